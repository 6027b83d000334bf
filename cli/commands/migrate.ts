import { Command } from 'commander'
import { readMigrations } from '../../server/platform/database/migrate.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database up to date (serve does so too)')
    .addHelpText(...examples('migrate'))
    .action(async (_options: object, command: Command) => {
      const all = await readMigrations()
      // Opening the store applies what is missing.
      await withStore(async () => {})
      print(
        command,
        { migrations: all.map(({ name }) => name) },
        () => `The database is up to date (${all.length} migrations).`,
      )
    })
}
