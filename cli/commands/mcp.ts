import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { Command } from 'commander'
import { AttestryClient } from '../../sdk/index.ts'
import { examples } from '../examples.ts'
import { findKeyRejection } from '../key-check.ts'
import { apiTools } from '../mcp/api-tools.ts'
import { createMcpServer } from '../mcp/server.ts'
import { readOpenApi } from '../openapi.ts'
import { describeProfile, isLiveKey, readProfile } from '../profile.ts'

interface Options {
  live?: boolean
  profile?: string
}

export function mcpCommand(): Command {
  return new Command('mcp')
    .description('Serve the partner API as MCP tools on standard input and output, for AI assistants')
    .option('--live', 'allow a LIVE key; the user confirms each request that changes something')
    .addHelpText(
      'after',
      `
Add it to the configuration of your assistant as the command "attestry mcp --profile NAME". Uses the same credentials as
"attestry request". Tools can read webhook endpoints, deliveries and the list of private questions. Tools that change
them, send test events or replay events are not offered.`,
    )
    .addHelpText(...examples('mcp --profile acme-test'))
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const profile = await readProfile(process.env, options.profile)
      const isLive = isLiveKey(profile)
      if (isLive && !options.live) throw new Error('this is a LIVE key; use a TEST key, or add --live')
      const tools = apiTools(await readOpenApi(profile.baseUrl))
      const rejection = await findKeyRejection(profile)
      if (rejection !== undefined) throw new Error(`the server rejects the ${describeProfile(profile)}. ${rejection}`)
      console.error(`Serving ${tools.length + 1} tools with the ${describeProfile(profile)}.`)
      const client = new AttestryClient(profile)
      serveStdio(() => createMcpServer({ client, tools, isLive, baseUrl: profile.baseUrl }))
    })
}
