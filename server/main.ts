import { ConfigError, readConfig } from './config.ts'
import { errorText } from './platform/error-text.ts'
import { serve } from './serve.ts'

try {
  await serve(readConfig(process.env, process.stdout.isTTY === true))
} catch (error) {
  const lines = error instanceof ConfigError ? error.lines : [errorText(error)]
  for (const line of lines) console.error(`attestry: ${line}`)
  process.exit(1)
}
