import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from './config.ts'
import { loadEnvironment } from './env-file.ts'
import { errorText } from './platform/error-text.ts'
import { serve } from './serve.ts'

try {
  const { values } = parseArgs({ options: { 'env-file': { type: 'string' } } })
  const { environment } = loadEnvironment(process.env, values['env-file'])
  await serve(readConfig(environment, process.stdout.isTTY === true))
} catch (error) {
  const lines = error instanceof ConfigError ? error.lines : [errorText(error)]
  for (const line of lines) console.error(`attestry: ${line}`)
  process.exit(1)
}
