import { ConfigError, readConfig } from './config.ts'
import { serve } from './serve.ts'

try {
  await serve(readConfig(process.env, process.stdout.isTTY === true))
} catch (error) {
  const lines = error instanceof ConfigError ? error.lines : [error instanceof Error ? error.message : String(error)]
  for (const line of lines) console.error(`attestry: ${line}`)
  process.exit(1)
}
