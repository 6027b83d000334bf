import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'

// Checks openapi/*.json against the recommended rules of Redocly and all OpenAPI rules of Spectral. Fails on every error and every
// warning, except those listed in `exceptions`.

interface Finding {
  linter: 'redocly' | 'spectral'
  rule: string
  /** The API name followed by the JSON pointer. */
  location: string
  message: string
}

interface Exception {
  linter: Finding['linter']
  rule: string
  /** A part of the location. */
  location: string
  reason: string
}

const exceptions: Exception[] = [
  {
    linter: 'redocly',
    rule: 'no-invalid-media-type-examples',
    location:
      'paths/~1api~1v1~1partner~1events/get/responses/200/content/application~1json/example/data/items/0/delivery',
    reason:
      'A pulled event is a webhook event with `delivery`. The rule treats each part of `allOf` as if it allowed no other properties.',
  },
]

/** Rules of Spectral that are switched off. */
const disabledSpectralRules: Record<string, string> = {
  'contact-properties':
    'The rule requires an email address. The project has none: questions belong in its issue tracker.',
  'openapi-tags-alphabetical':
    'The tags are in the order in which an integration uses them; the API reference shows them so.',
}

async function lintWithRedocly(apiName: string, source: string): Promise<Finding[]> {
  const config = await createConfig({ extends: ['recommended'], telemetry: 'off' })
  const problems = await lintFromString({ source, config })
  return problems.map(({ ruleId, message, location }) => ({
    linter: 'redocly',
    rule: ruleId,
    location: `${apiName}${location[0]?.pointer ?? ''}`,
    message,
  }))
}

function createSpectral() {
  const spectral = new spectralCore.Spectral()
  const rules = Object.fromEntries(Object.keys(disabledSpectralRules).map((rule) => [rule, 'off' as const]))
  spectral.setRuleset({ extends: [[spectralRulesets.oas as never, 'all']], rules })
  return spectral
}

const spectral = createSpectral()

async function lintWithSpectral(apiName: string, source: string): Promise<Finding[]> {
  const problems = await spectral.run(JSON.parse(source))
  return problems.map(({ code, message, path }) => ({
    linter: 'spectral',
    rule: String(code),
    location: [`${apiName}#`, ...path.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1'))].join(
      '/',
    ),
    message,
  }))
}

const usedExceptions = new Set<Exception>()
let problemCount = 0
for (const apiName of ['partner', 'verification', 'catalogue']) {
  const source = await readFile(new URL(`../openapi/${apiName}.json`, import.meta.url), 'utf8')
  const findings = [...(await lintWithRedocly(apiName, source)), ...(await lintWithSpectral(apiName, source))]
  for (const { linter, rule, location, message } of findings) {
    const exception = exceptions.find(
      (each) => each.linter === linter && each.rule === rule && location.includes(each.location),
    )
    if (exception) {
      usedExceptions.add(exception)
      continue
    }
    problemCount++
    console.error(`openapi/${apiName}.json: ${linter} ${rule} at ${location}: ${message}`)
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
