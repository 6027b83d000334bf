import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'

// Checks openapi/*.json against Redocly's recommended rules. Every problem fails, except those listed here.

interface Exception {
  rule: string
  /** Text that the problem's location contains: the API and the JSON pointer. */
  at: string
  reason: string
}

const exceptions: Exception[] = []

const config = await createConfig({ extends: ['recommended'], telemetry: 'off' })
const used = new Set<Exception>()
let failures = 0
for (const name of ['partner', 'verification', 'catalogue']) {
  const source = await readFile(new URL(`../openapi/${name}.json`, import.meta.url), 'utf8')
  for (const { ruleId, message, severity, location } of await lintFromString({ source, config })) {
    const at = `${name}${location[0]?.pointer ?? ''}`
    const exception = exceptions.find(({ rule, at: where }) => rule === ruleId && at.includes(where))
    if (exception) {
      used.add(exception)
      continue
    }
    failures++
    console.error(`openapi/${name}.json: ${severity} ${ruleId} at ${at}: ${message}`)
  }
}
for (const exception of exceptions) {
  if (used.has(exception)) continue
  failures++
  console.error(
    `scripts/lint-openapi.ts: the exception for ${exception.rule} at ${exception.at} is not needed; remove it`,
  )
}
if (failures > 0) process.exitCode = 1
else console.log(`OpenAPI descriptions: 0 problems, ${exceptions.length} explained exceptions`)
