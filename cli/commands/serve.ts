import { Command } from 'commander'
import { readConfig } from '../../server/config.ts'
import { startServer } from '../../server/start.ts'
import { examples } from '../examples.ts'

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the server: the APIs, the worker or both, depending on ROLES')
    .addHelpText(...examples('serve'))
    .action(() => startServer(readConfig(process.env, process.stdout.isTTY === true)))
}
