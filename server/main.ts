import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from './config.ts'
import { loadEnvironment } from './env-file.ts'
import { errorText } from './platform/error-text.ts'
import { startServer } from './start.ts'

// Starts the server with its embedded database, or with the one of DATABASE_URL. docs/guides/run-in-production.md lists the variables.
//   npm start                            reads attestry.env or .env if one of them exists
//   npm start -- --env-file FILE         reads this file instead
async function main(): Promise<void> {
  try {
    const { values } = parseArgs({ options: { 'env-file': { type: 'string' } } })
    const { environment } = loadEnvironment(process.env, values['env-file'])
    await startServer(readConfig(environment, process.stdout.isTTY === true))
  } catch (error) {
    const lines = error instanceof ConfigError ? error.lines : [errorText(error)]
    for (const line of lines) console.error(`attestry: ${line}`)
    process.exit(1)
  }
}

// Not awaited: in a bundle, modules that are loaded later can import this one, and would wait until it has been evaluated.
void main()
