import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import addFormats from 'ajv-formats'

/**
 * The JSON Schemas of 1EdTech, which its licence does not allow in this repository. Tests validate against them if the environment
 * variable OPEN_BADGES_SCHEMAS names the folder to which they were downloaded (see CONTRIBUTING.md).
 */
const FILES = {
  openBadge: 'ob_v3p0_achievementcredential_schema.json',
  learnerRecord: 'clr_v2p0_clrcredential_schema.json',
} as const
export type OfficialSchema = keyof typeof FILES

const folder = process.env.OPEN_BADGES_SCHEMAS

/** Why tests with a schema are skipped; false if they run. */
export function officialSchemaSkipReason(schema: OfficialSchema): string | false {
  if (!folder)
    return "OPEN_BADGES_SCHEMAS is not set: it names the folder with 1EdTech's JSON Schemas (see CONTRIBUTING.md)"
  return (
    !existsSync(join(folder, FILES[schema])) && `the folder of OPEN_BADGES_SCHEMAS does not contain ${FILES[schema]}`
  )
}

/** Returns the path of a downloaded schema; undefined if OPEN_BADGES_SCHEMAS is not set. */
export function openBadgesSchemaFile(schema: OfficialSchema): string | undefined {
  return folder ? join(folder, FILES[schema]) : undefined
}

/** Returns a function that returns the violations of a downloaded schema. */
export function compileOfficialSchema(schema: OfficialSchema): (value: unknown) => string[] {
  // The schemas of 1EdTech do not comply with the strict mode of Ajv.
  const ajv = new Ajv2019({ allErrors: true, strict: false })
  addFormats.default(ajv)
  const validate = ajv.compile(JSON.parse(readFileSync(openBadgesSchemaFile(schema)!, 'utf8')))
  return (value) => {
    validate(value)
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
  }
}
