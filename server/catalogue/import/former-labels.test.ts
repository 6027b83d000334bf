import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ADMIN_KEY, startApp } from '../../../test/support/app.ts'
import { runCommand } from '../../../test/support/command.ts'
import { createPartner } from '../../../test/support/partners.ts'

/** A skill of a small ESCO release: its URI, its preferred label and its alternative labels. */
type EscoSkill = [uri: string, name: string, ...labels: string[]]

const HIERARCHY = 'Level 0 URI,Level 1 URI,Level 1 preferred term,Level 2 URI,Level 2 preferred term,Level 3 URI'

async function startCatalogue(t: TestContext) {
  const app = await startApp(t)
  const { config, catalogue } = app.context
  const folder = await mkdtemp(join(tmpdir(), 'attestry-releases-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const calls = app.as((await createPartner(app)).key)
  let releases = 0

  /** Imports a file or folder with the command. Returns its summary. */
  async function importPath(format: string, path: string) {
    const { code, stdout, stderr } = await runCommand(['skills', 'import', '--format', format, path, '--json'], {
      cwd: folder,
      env: {
        DATABASE_URL: config.databaseUrl,
        DATABASE_OWNER_URL: config.databaseOwnerUrl,
        DATABASE_DIRECT_URL: config.databaseDirectUrl,
        ADMIN_API_KEY: ADMIN_KEY,
        MASTER_KEY: config.masterKey!.toString('base64'),
        DATA_DIR: folder,
      },
    })
    assert.equal(code, 0, stderr)
    await catalogue.refresh()
    const summary = JSON.parse(stdout)
    assert.deepEqual(summary.refused, [])
    return summary
  }

  return {
    importPath,
    folder,
    async importEsco(...skills: EscoSkill[]) {
      const path = join(folder, `esco-${++releases}`)
      await mkdir(path)
      const rows = skills.map(([uri, name, ...labels]) => `${uri},${name},"${labels.join('\n')}",`)
      const files = {
        'skills_en.csv': ['conceptUri,preferredLabel,altLabels,description', ...rows],
        'skillsHierarchy_en.csv': [HIERARCHY, 'u:s,u:s1,crafts,u:s1.1,paper craft,'],
        'broaderRelationsSkillPillar_en.csv': ['conceptUri,broaderUri', ...skills.map(([uri]) => `${uri},u:s1.1`)],
      }
      for (const [name, lines] of Object.entries(files)) await writeFile(join(path, name), `${lines.join('\n')}\n`)
      return importPath('esco', path)
    },

    /** Returns the names of the skills with exactly this name or alias, which a search and a match must both find. */
    async find(label: string): Promise<string[]> {
      const { body: searched } = await calls.get(`/skills/search?q=${encodeURIComponent(label)}`)
      const found = searched.data.items
        .filter(({ name, aliases }: any) => [name, ...aliases].includes(label))
        .map(({ name }: any) => name)
        .sort()
      const { body: matched } = await calls.post('/skills/match', { phrases: [label], limit: 10 })
      const matches = matched.data.matches[0].candidates
        .filter(({ method }: any) => method === 'exact' || method === 'alias')
        .map(({ name }: any) => name)
      assert.deepEqual(matches.toSorted(), found)
      return found
    },

    async idOf(name: string): Promise<string> {
      const { body } = await calls.get(`/skills/search?q=${encodeURIComponent(name)}`)
      return body.data.items.find((skill: any) => skill.name === name).skill_id
    },

    async extract(text: string): Promise<string[]> {
      const { body } = await calls.post('/skills/extract', { text })
      return body.data.skills.map(({ name }: any) => name)
    },

    async removeAlias(id: string, alias: string) {
      const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
      const skill = await app.fetch(`/api/admin/skills/${id}`, { headers })
      const body = JSON.stringify({ revision: skill.body.data.revision, remove_aliases: [alias] })
      const { status } = await app.fetch(`/api/admin/skills/${id}`, { method: 'PATCH', headers, body })
      assert.equal(status, 200)
    },
  }
}

const RELEASE_1: EscoSkill[] = [
  ['u:kite', 'zubble kites', 'build zubble kites', 'fly paper birds'],
  ['u:lantern', 'hang quallo lanterns', 'string quallo lamps', 'light quallo globes'],
]
const RELEASE_2: EscoSkill[] = [
  ['u:kite', 'craft zubble kites', 'build zubble kites'],
  ['u:lantern', 'hang quallo lanterns', 'string quallo lamps'],
]
const RELEASE_3: EscoSkill[] = [
  ['u:kite', 'craft zubble kites', 'glue zubble kites'],
  ['u:lantern', 'hang quallo lanterns'],
  ['u:globe', 'light quallo globes', 'string quallo lamps', 'fly paper birds'],
]

test('names and labels that a later release drops still find the skill', async (t) => {
  const { importEsco, find, extract, idOf } = await startCatalogue(t)
  await importEsco(...RELEASE_1)
  const id = await idOf('zubble kites')
  assert.deepEqual(await find('zubble kites'), ['zubble kites'])

  assert.equal((await importEsco(...RELEASE_2)).changed, 2)
  assert.equal(await idOf('craft zubble kites'), id)
  assert.deepEqual(await find('zubble kites'), ['craft zubble kites'])
  assert.deepEqual(await find('fly paper birds'), ['craft zubble kites'])
  assert.deepEqual(await find('light quallo globes'), ['hang quallo lanterns'])
  assert.ok((await extract('Requirements: fly paper birds.')).includes('craft zubble kites'))
})

test('a dropped label that another skill of the release has moves to that skill', async (t) => {
  const { importEsco, find, idOf } = await startCatalogue(t)
  for (const release of [RELEASE_1, RELEASE_2, RELEASE_3]) await importEsco(...release)
  for (const label of ['light quallo globes', 'string quallo lamps', 'fly paper birds'])
    assert.deepEqual(await find(label), ['light quallo globes'], label)
  for (const label of ['zubble kites', 'build zubble kites', 'glue zubble kites'])
    assert.deepEqual(await find(label), ['craft zubble kites'], label)

  // A label that two skills had, and one of them keeps, is that skill's only.
  await importEsco(...RELEASE_3, ['u:mask', 'paint vroom masks', 'glue zubble kites'])
  assert.deepEqual(await find('glue zubble kites'), ['craft zubble kites', 'paint vroom masks'])
  const [kite, ...others] = RELEASE_3
  await importEsco(kite!, ...others, ['u:mask', 'paint vroom masks'])
  assert.deepEqual(await find('glue zubble kites'), ['craft zubble kites'])
  assert.notEqual(await idOf('paint vroom masks'), await idOf('craft zubble kites'))
})

test('importing a release again changes nothing, and an older release can follow a newer one', async (t) => {
  const { importEsco, find } = await startCatalogue(t)
  for (const release of [RELEASE_1, RELEASE_2, RELEASE_3]) await importEsco(...release)
  const { version } = await importEsco(...RELEASE_3)
  const repeated = await importEsco(...RELEASE_3)
  assert.deepEqual([repeated.changed, repeated.unchanged, repeated.version], [0, 3, version])

  await importEsco(...RELEASE_2)
  assert.deepEqual(await find('string quallo lamps'), ['hang quallo lanterns', 'light quallo globes'])
  assert.deepEqual(await find('glue zubble kites'), ['craft zubble kites'])
  assert.deepEqual(await find('fly paper birds'), ['light quallo globes'])
  await importEsco(...RELEASE_3)
  assert.deepEqual(await find('string quallo lamps'), ['light quallo globes'])
  assert.deepEqual(await find('build zubble kites'), ['craft zubble kites'])
})

test('labels that an operator removed do not come back', async (t) => {
  const { importEsco, find, idOf, removeAlias } = await startCatalogue(t)
  await importEsco(...RELEASE_1)
  const id = await idOf('zubble kites')
  await removeAlias(id, 'fly paper birds')
  await importEsco(...RELEASE_2)
  assert.deepEqual(await find('fly paper birds'), [])
  await removeAlias(id, 'zubble kites')
  await importEsco(['u:kite', 'sew zubble kites'], RELEASE_2[1]!)
  assert.deepEqual(await find('zubble kites'), [])
  assert.deepEqual(await find('build zubble kites'), ['sew zubble kites'])
})
