import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/log.ts'
import { masterSkillNumber, skillNumber, subSkillNumber } from './ids.ts'
import { mergeTaxonomy } from './import/merge.ts'
import { readStoredCatalogue } from './import/stored-catalogue.ts'
import { writeCatalogueChanges } from './import/write.ts'
import { nameKey } from './names.ts'
import { incrementCatalogueVersion, lockCatalogue } from './store.ts'
import type { Taxonomy } from './taxonomy.ts'

/**
 * A text file of the built-in catalogue. Each file contains one master skill, its sub-skills and their skills. The third field of a
 * skill is `v` if employers often ask for it, so that it ranks higher in searches, else `-`:
 *
 *     # Construction and masonry | ms_1
 *     ## Brick and block masonry | ss_101
 *     sk_1001 | Bricklaying | v | Lays bricks in mortar to line, level and plumb. | brick work; raj mistri
 *
 * IDs are permanent. A skill keeps its ID in every release, and an ID is never reused for another skill.
 */
export interface BuiltInCatalogueFile {
  name: string
  text: string
}

const SKILLS_FOLDER = new URL('../../data/skills/', import.meta.url)

export async function readBuiltInCatalogueFiles(): Promise<BuiltInCatalogueFile[]> {
  const fileNames = (await readdir(SKILLS_FOLDER)).filter((name) => /^\d\d-.*\.txt$/.test(name)).sort()
  return Promise.all(
    fileNames.map(async (name) => ({ name, text: await readFile(new URL(name, SKILLS_FOLDER), 'utf8') })),
  )
}

/** Loads the built-in catalogue into the database. Does nothing if the files have not changed since they were loaded. */
export async function loadBuiltInCatalogue(db: Database, clock: Clock, log: Log): Promise<void> {
  const files = await readBuiltInCatalogueFiles()
  const checksum = computeChecksum(files)
  const { built_in_checksum } = await db.queries
    .selectFrom('catalogue_version')
    .select('built_in_checksum')
    .executeTakeFirstOrThrow()
  if (built_in_checksum === checksum) return
  const taxonomy = parseBuiltInCatalogue(files)
  await db.transaction(async (tx) => {
    // If several processes start at the same time, only the first one loads the files.
    if ((await lockCatalogue(tx)).builtInChecksum === checksum) return
    const { changes, summary } = mergeTaxonomy(await readStoredCatalogue(tx), taxonomy)
    const written = await writeCatalogueChanges(tx, 'builtin', changes, new Date(clock.now()))
    if (written > 0) await incrementCatalogueVersion(tx)
    for (const { at, row, reason } of summary.refused)
      log.warn(`built-in skill rejected, skipping it: ${at}: ${row}: ${reason}`)
    await tx.updateTable('catalogue_version').set({ built_in_checksum: checksum }).execute()
  })
}

function computeChecksum(files: BuiltInCatalogueFile[]): string {
  const hash = createHash('sha256')
  for (const { name, text } of files) hash.update(`${name}\n${text.length}\n${text}`)
  return hash.digest('hex')
}

/** Parses the files. Throws an error with file and line number if a line is invalid, or if an ID or name occurs twice. */
export function parseBuiltInCatalogue(files: BuiltInCatalogueFile[]): Taxonomy {
  const taxonomy: Taxonomy = { source: 'builtin', masters: [], subSkills: [], skills: [], rejected: [] }
  const firstLocations = new Map<string, string>()
  for (const file of files) {
    let master: string | undefined
    let subSkill: string | undefined
    file.text.split('\n').forEach((line, index) => {
      if (!line.trim()) return
      const location = `data/skills/${file.name}:${index + 1}`
      const fail = (message: string): never => {
        throw new Error(`${location}: ${message}: ${line.slice(0, 100)}`)
      }
      const rejectDuplicate = (idOrName: string) => {
        const firstLocation = firstLocations.get(idOrName)
        if (firstLocation) fail(`${idOrName} is already defined at ${firstLocation}`)
        firstLocations.set(idOrName, location)
      }
      const heading = /^(#{1,2}) ([^|]+) \| (\S+)$/.exec(line)
      if (heading) {
        const [, level, name, id] = heading as unknown as [string, string, string, string]
        rejectDuplicate(id)
        if (level === '#') {
          const number = masterSkillNumber(id) ?? fail('expected "# Name | ms_N"')
          master = id
          subSkill = undefined
          taxonomy.masters.push({ id, name, number })
        } else {
          const number = subSkillNumber(id) ?? fail('expected "## Name | ss_N"')
          subSkill = id
          taxonomy.subSkills.push({ id, name, number, master: master ?? fail('sub-skill before its master skill') })
        }
        return
      }
      const fields = line.split(' | ')
      if (fields.length !== 5) fail('expected "sk_N | name | v or - | description | alias; alias"')
      const [id, name, flag, description, aliasList] = fields as [string, string, string, string, string]
      const number = skillNumber(id) ?? fail('expected an ID such as sk_1001')
      if (flag !== 'v' && flag !== '-') fail('expected v or - in the third field')
      const aliases = aliasList.split(';').map((alias) => alias.trim())
      if (aliases.includes('') || !name.trim() || !description.trim()) fail('empty field')
      rejectDuplicate(id)
      rejectDuplicate(`the name ${nameKey(name)}`)
      const verifiable = flag === 'v'
      taxonomy.skills.push({
        id,
        number,
        name,
        description,
        aliases,
        verifiable,
        location,
        subSkill: subSkill ?? fail('skill before its sub-skill'),
      })
    })
  }
  return taxonomy
}
