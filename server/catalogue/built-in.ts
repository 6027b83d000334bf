import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/log.ts'
import { masterSkillNumber, skillNumber, subSkillNumber } from './ids.ts'
import { readExisting } from './import/existing.ts'
import { merge } from './import/merge.ts'
import { writeChanges } from './import/write.ts'
import { nameKey } from './names.ts'
import { lockCatalogue, raiseCatalogueVersion } from './store.ts'
import type { Taxonomy } from './taxonomy.ts'

/**
 * The catalogue that ships with the product, in text files, one a master skill:
 *
 *     # Construction and masonry | ms_1
 *     ## Brick and block masonry | ss_101
 *     sk_1001 | Bricklaying | v | Lays bricks in mortar to line, level and plumb. | brick work; raj mistri
 *
 * Numbers are fixed for ever: a skill keeps its id through every release, and none is ever given to another.
 */
export interface BuiltInFile {
  name: string
  text: string
}

const FOLDER = new URL('../../data/skills/', import.meta.url)

export async function readBuiltInFiles(): Promise<BuiltInFile[]> {
  const names = (await readdir(FOLDER)).filter((name) => /^\d\d-.*\.txt$/.test(name)).sort()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(new URL(name, FOLDER), 'utf8') })))
}

/** Loads the files into the database unless these very files were loaded before. */
export async function loadBuiltIn(db: Database, clock: Clock, log: Log): Promise<void> {
  const files = await readBuiltInFiles()
  const checksum = checksumOf(files)
  const { built_in_checksum } = await db.queries
    .selectFrom('catalogue_version')
    .select('built_in_checksum')
    .executeTakeFirstOrThrow()
  if (built_in_checksum === checksum) return
  const taxonomy = parseBuiltIn(files)
  await db.transaction(async (tx) => {
    // Of processes that start together, the first loads and the others find it done.
    if ((await lockCatalogue(tx)).builtInChecksum === checksum) return
    const { changes, summary } = merge(await readExisting(tx), taxonomy)
    if (await writeChanges(tx, 'builtin', changes, new Date(clock.now()))) await raiseCatalogueVersion(tx)
    for (const { at, row, reason } of summary.refused) log.warn(`${at}: ${row} was not taken: ${reason}`)
    await tx.updateTable('catalogue_version').set({ built_in_checksum: checksum }).execute()
  })
}

function checksumOf(files: BuiltInFile[]): string {
  const hash = createHash('sha256')
  for (const { name, text } of files) hash.update(`${name}\n${text.length}\n${text}`)
  return hash.digest('hex')
}

export function parseBuiltIn(files: BuiltInFile[]): Taxonomy {
  const taxonomy: Taxonomy = { source: 'builtin', masters: [], subSkills: [], skills: [], refused: [] }
  const firstAt = new Map<string, string>()
  for (const file of files) {
    let master: string | undefined
    let subSkill: string | undefined
    file.text.split('\n').forEach((line, index) => {
      if (!line.trim()) return
      const at = `data/skills/${file.name}:${index + 1}`
      const fail = (message: string): never => {
        throw new Error(`${at}: ${message}: ${line.slice(0, 100)}`)
      }
      const once = (what: string) => {
        const before = firstAt.get(what)
        if (before) fail(`${what} is at ${before} already`)
        firstAt.set(what, at)
      }
      const heading = /^(#{1,2}) ([^|]+) \| (\S+)$/.exec(line)
      if (heading) {
        const [, level, name, id] = heading as unknown as [string, string, string, string]
        once(id)
        if (level === '#') {
          const number = masterSkillNumber(id) ?? fail('expected "# Name | ms_N"')
          master = id
          subSkill = undefined
          taxonomy.masters.push({ id, name, number })
        } else {
          const number = subSkillNumber(id) ?? fail('expected "## Name | ss_N"')
          subSkill = id
          taxonomy.subSkills.push({ id, name, number, master: master ?? fail('a sub-skill before its master skill') })
        }
        return
      }
      const fields = line.split(' | ')
      if (fields.length !== 5) fail('expected "sk_N | name | v or - | description | alias; alias"')
      const [id, name, flag, description, aliasList] = fields as [string, string, string, string, string]
      const number = skillNumber(id) ?? fail('expected an id such as sk_1001')
      if (flag !== 'v' && flag !== '-') fail('expected v or - in the third field')
      const aliases = aliasList.split(';').map((alias) => alias.trim())
      if (aliases.includes('') || !name.trim() || !description.trim()) fail('an empty field')
      once(id)
      once(`the name ${nameKey(name)}`)
      const verifiable = flag === 'v'
      taxonomy.skills.push({
        id,
        number,
        name,
        description,
        aliases,
        verifiable,
        at,
        subSkill: subSkill ?? fail('a skill before its sub-skill'),
      })
    })
  }
  return taxonomy
}
