import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'

// Checks openapi/*.json against Redocly's recommended rules. Fails on every problem, except those listed in `exceptions`.

interface Exception {
  rule: string
  /** A part of the problem's location, which is the API name followed by the JSON pointer. */
  location: string
  reason: string
}

const exceptions: Exception[] = [
  {
    rule: 'no-invalid-media-type-examples',
    location:
      'paths/~1api~1v1~1partner~1events/get/responses/200/content/application~1json/example/data/items/0/delivery',
    reason:
      'A pulled event is a webhook event with `delivery`. The rule treats each part of `allOf` as if it allowed no other properties.',
  },
]

const config = await createConfig({ extends: ['recommended'], telemetry: 'off' })
const usedExceptions = new Set<Exception>()
let problemCount = 0
for (const apiName of ['partner', 'verification', 'catalogue']) {
  const source = await readFile(new URL(`../openapi/${apiName}.json`, import.meta.url), 'utf8')
  for (const { ruleId, message, severity, location } of await lintFromString({ source, config })) {
    const problemLocation = `${apiName}${location[0]?.pointer ?? ''}`
    const exception = exceptions.find(
      (exception) => exception.rule === ruleId && problemLocation.includes(exception.location),
    )
    if (exception) {
      usedExceptions.add(exception)
      continue
    }
    problemCount++
    console.error(`openapi/${apiName}.json: ${severity} ${ruleId} at ${problemLocation}: ${message}`)
  }
}
for (const exception of exceptions) {
  if (usedExceptions.has(exception)) continue
  problemCount++
  console.error(
    `scripts/lint-openapi.ts: the exception for ${exception.rule} at ${exception.location} is not needed; remove it`,
  )
}
if (problemCount > 0) process.exitCode = 1
else console.log(`OpenAPI descriptions: 0 problems, ${exceptions.length} explained exceptions`)
