import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, aMandate, startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signIn } from '../../../test/support/console.ts'
import { itemsCsv, sampleItems } from '../../../test/support/item-files.ts'
import { createPartner } from '../../../test/support/partners.ts'
import { expectOk, verificationCalls } from '../../../test/support/verification.ts'
import type { Taxonomy, TaxonomySkill } from '../taxonomy.ts'
import { importTaxonomy } from './import.ts'

const startShared = oncePerFile((t) => startApp(t))
const SKILLS = '/operator/catalogue/skills'
const IMPORTS = '/operator/catalogue/imports'

type SkillFixture = Pick<TaxonomySkill, 'id' | 'name'> & Partial<TaxonomySkill>

function taxonomyOf(skills: SkillFixture[], overrides: Partial<Taxonomy> = {}): Taxonomy {
  return {
    source: 'esco',
    masters: [{ id: 'm', name: 'Crafts' }],
    subSkills: [{ id: 's', name: 'Paper craft', master: 'm' }],
    rejected: [],
    skills: skills.map((skill, i) => ({
      description: '',
      aliases: [],
      subSkill: 's',
      verifiable: false,
      location: `file:${i + 2}`,
      ...skill,
    })),
    ...overrides,
  }
}

async function setUp() {
  const app = await startShared()
  const { context, clock } = app
  const { db, catalogue } = context
  const partner = await createPartner(app)
  const operator = await signIn(app)
  return {
    app,
    context,
    partner,
    operator,
    async importSkills(skills: SkillFixture[], overrides: Partial<Taxonomy> = {}) {
      const { import_id } = await importTaxonomy(db, clock, taxonomyOf(skills, overrides))
      await catalogue.refresh()
      return import_id!
    },
    preview: async (importId: string) => (await operator.get(`${IMPORTS}/${importId}/undo`)).body.data,
    async undo(importId: string) {
      const { status, body } = await operator.post(`${IMPORTS}/${importId}/undo`)
      if (status !== 200) throw new Error(`${body.error.code}: ${body.error.message}`)
      return body.data
    },
    idOf: async (name: string) =>
      (await partner.post('/skills/lookup', { names: [name] })).body.data.found[0]?.skill_id,
    async edit(id: string, change: object) {
      const { revision } = (await operator.get(`${SKILLS}/${id}`)).body.data
      const response = await operator.call('PATCH', `${SKILLS}/${id}`, { revision, ...change })
      assert.equal(response.status, 200, JSON.stringify(response.body))
      await catalogue.refresh()
    },
    /** Returns what the APIs respond about these names, and the whole hierarchy. */
    async readAnswers(names: string[]) {
      const { get, post } = partner
      const answers: unknown[] = [(await post('/skills/lookup', { names })).body.data]
      for (const name of names) {
        answers.push((await get(`/skills/search?q=${encodeURIComponent(name)}&limit=20`)).body.data.items)
        answers.push((await post('/skills/match', { phrases: [name] })).body.data)
        answers.push((await post('/skills/extract', { text: `Wanted: ${name} in Pune` })).body.data)
      }
      const { masters, subSkills, skills } = catalogue.current
      const summary = (await operator.get('/operator/catalogue')).body.data
      return { answers, masters, subSkills, skillCount: skills.length, summary: { ...summary, version: 0 } }
    },
  }
}

test('after an undo, the catalogue responds as before the import', async () => {
  const { importSkills, preview, undo, readAnswers, idOf, partner } = await setUp()
  await importSkills([
    { id: 'a1', name: 'kite making', description: 'Makes kites.', aliases: ['patang'] },
    { id: 'a2', name: 'lantern making', aliases: ['kandil'] },
    { id: 'a3', name: 'mask making' },
    { id: 'a4', name: 'paper folding' },
  ])
  const names = ['kite making', 'kite building', 'lantern making', 'mask making', 'paper lanterns', 'silk painting']
  names.push('patang', 'wau', 'kandil', 'raised walls')
  const before = await readAnswers(names)
  const importId = await importSkills(
    [
      { id: 'a1', name: 'kite building', description: 'Builds.', aliases: ['wau'], subSkill: 'silk' },
      { id: 'a3', name: 'paper masks', verifiable: true },
      { id: 'a2', name: 'mask making' },
      { id: 'b1', name: 'silk painting', subSkill: 'silk' },
      { id: 'b2', name: 'paper lanterns', aliases: ['kandil'] },
      { id: 'b3', name: 'BRICK LAYING', aliases: ['raised walls'] },
    ],
    {
      masters: [
        { id: 'm', name: 'Handicraft' },
        { id: 'm2', name: 'Textiles' },
      ],
      subSkills: [
        { id: 's', name: 'Paper', master: 'm' },
        { id: 'silk', name: 'Silk', master: 'm2' },
      ],
    },
  )
  const after = await readAnswers(names)
  assert.notDeepEqual(after, before)
  const silkId = await idOf('silk painting')

  const effects = await preview(importId)
  assert.deepEqual(await readAnswers(names), after, 'the preview changes nothing')
  assert.deepEqual(
    [effects.withdrawn_skills, effects.kept_skills, effects.withdrawn_groups, effects.restored_groups],
    [2, 0, 2, 2],
  )
  assert.deepEqual(
    effects.first_renamed.map(({ name, restored_name }: any) => [name, restored_name]),
    [
      ['kite building', 'kite making'],
      ['mask making', 'lantern making'],
      ['paper masks', 'mask making'],
    ],
    'a name can move from one skill to another',
  )
  assert.deepEqual(await undo(importId), effects)
  assert.deepEqual(await readAnswers(names), before)
  const silk = (await partner.get(`/skills/${silkId}`)).body.data
  assert.deepEqual([silk.name, silk.withdrawn], ['silk painting', true], 'its ID stays valid')
  const browsed = (await partner.get('/skills?limit=100&sub_skill_id=ss_100001')).body.data.items
  assert.deepEqual(browsed, [], 'its group contains no skills')
  await assert.rejects(undo(importId), /CONFLICT: Import IM_\w+ was already undone at .* by .+@/)
  assert.deepEqual(await readAnswers(names), before, 'the second undo has no effect')
})

test('records keep the skills of an undone import, and a later import gives them the same IDs', async () => {
  const { app, context, partner, importSkills, preview, undo, idOf, edit } = await setUp()
  const rows = [
    { id: 'd1', name: 'drum making', aliases: ['dholak'] },
    { id: 'd2', name: 'drum tuning' },
    { id: 'd3', name: 'drum painting' },
    { id: 'd4', name: 'drum carving' },
  ]
  const group = { masters: [{ id: 'mm', name: 'Music' }], subSkills: [{ id: 's', name: 'Drums', master: 'mm' }] }
  const importId = await importSkills(rows, group)
  const ids = await Promise.all(rows.map(({ name }) => idOf(name)))
  const [making, tuning, painting, carving] = ids as [string, string, string, string]
  const { workflow_id } = await app.fixtures.createWorkflow(partner.scope)
  const mandateAbout = { ...aMandate(workflow_id), skills: [{ skill_id: making }] }
  const mandate = await partner.post('/mandates', mandateAbout)
  assert.ok(mandate.status < 300, JSON.stringify(mandate.body))
  await edit(tuning, { add_aliases: ['drum voicing'] })

  const calls = verificationCalls(app, partner.orgId, await app.fixtures.createSessionKey(partner.orgId))
  await expectOk(calls.storeSkills(await calls.openSession(), [{ skillId: making, proofUrl: [] }]))
  await expectOk(partner.post('/items/import', { content: itemsCsv(sampleItems(3), making) }))
  const { sub } = context.catalogue.current.skill(Number(making.slice(3)))!
  const selection = { skill_id: making, sub_skill_id: `ss_${sub.number}`, master_skill_id: `ms_${sub.master.number}` }
  for (const user_id of ['a', 'b'])
    await expectOk(
      app.fetch('/api/selected-skills', {
        method: 'POST',
        body: JSON.stringify({ user_id, ...selection }),
        headers: { 'content-type': 'application/json' },
      }),
    )

  const effects = await preview(importId)
  assert.deepEqual([effects.withdrawn_skills, effects.skills_in_use], [4, 1])
  assert.deepEqual(effects.records, {
    mandates: 1,
    sessions: 1,
    endorsements: 0,
    credentials: 0,
    questions: 3,
    selected_skills: 2,
  })
  assert.deepEqual(effects.first_skills_in_use, [{ skill_id: making, name: 'drum making' }])
  await undo(importId)
  assert.equal(await idOf('drum making'), undefined)
  assert.equal((await partner.get(`/skills/${making}`)).body.data.name, 'drum making')
  const stored = (await partner.get(`/mandates/${mandate.body.data.mandate_id}`)).body.data
  assert.equal(stored.skills[0].skill_id, making)
  const again = await partner.post('/mandates', mandateAbout)
  assert.ok(again.status < 300, JSON.stringify(again.body))
  const request = (await partner.post('/skill-requests', { name: 'Drum voicing' })).body.data
  assert.equal(request.status, 'pending', 'the aliases of withdrawn skills mean nothing')

  const laterId = await importSkills(
    [
      { id: 'd1', name: 'drum building' },
      { id: 'd2', name: 'drum tuning' },
    ],
    group,
  )
  await importSkills([{ id: 'x1', name: 'Drum painting', aliases: ['tabla art'] }], { ...group, source: 'onet' })
  assert.deepEqual(
    [await idOf('drum building'), await idOf('drum tuning'), await idOf('drum painting')],
    [making, tuning, painting],
    'by ID, or by name',
  )
  assert.deepEqual((await partner.get(`/skills/${making}`)).body.data.aliases, [], 'the undone values do not return')
  assert.deepEqual((await partner.get(`/skills/${tuning}`)).body.data.aliases, ['drum voicing'])
  assert.equal(await idOf('drum carving'), undefined)
  const { sub_skill } = (await partner.get(`/skills/${tuning}`)).body.data
  assert.equal(sub_skill.name, 'Drums')
  assert.ok(context.catalogue.current.subSkills.some(({ name }) => name === 'Drums'))

  await assert.rejects(undo(laterId), /is not the latest import: IM_\w+ .* Undo that one first/)
  const { items } = (await (await signIn(app)).get('/operator/catalogue/imports')).body.data
  await undo(items.find(({ can_undo }: any) => can_undo).import_id)
  await undo(laterId)
  assert.deepEqual([await idOf('drum building'), await idOf('drum painting')], [undefined, undefined])
  assert.equal((await partner.get(`/skills/${carving}`)).body.data.skill_id, carving)
})

test('changes that operators made after an import are kept when it is undone', async () => {
  const { partner, operator, importSkills, undo, idOf, edit } = await setUp()
  await importSkills([
    { id: 'p1', name: 'pot throwing' },
    { id: 'p2', name: 'pot glazing' },
    { id: 'p3', name: 'pot firing' },
  ])
  const [throwing, glazing, firing] = (await Promise.all(['pot throwing', 'pot glazing', 'pot firing'].map(idOf))) as [
    string,
    string,
    string,
  ]
  const approve = async (requestId: string) => {
    const path = `/operator/skill-requests/${requestId}/approve`
    assert.equal((await operator.post(path, { sub_skill_id: 'ss_101' })).status, 200)
  }
  const lettering = (await partner.post('/skill-requests', { name: 'Pot lettering' })).body.data
  const importId = await importSkills([
    { id: 'p1', name: 'pottery throwing' },
    { id: 'p2', name: 'pottery glazing', aliases: ['enamelling pots'] },
    { id: 'p3', name: 'pottery firing' },
    { id: 'p4', name: 'pot mending' },
    { id: 'p5', name: 'pot selling' },
    { id: 'p6', name: 'pot LETTERING', aliases: ['letters on pots'] },
  ])
  const letteringId = await idOf('pot lettering')
  await approve(lettering.request_id)
  await edit(throwing, { name: 'Gharha throwing' })
  await edit(glazing, { add_aliases: ['shine on pots'], often_required: true })
  const [selling, mending] = [await idOf('pot selling'), await idOf('pot mending')]
  const merged = await operator.call('POST', `${SKILLS}/${selling}/merge`, { into: firing })
  assert.equal(merged.status, 200)
  const request = (await partner.post('/skill-requests', { name: 'Pot mending with gold' })).body.data
  await approve(request.request_id)
  assert.equal((await undo(importId)).kept_skills, 1)

  const read = async (id: string) => (await partner.get(`/skills/${id}`)).body.data
  assert.deepEqual(
    [(await read(throwing)).name, (await read(throwing)).aliases.includes('pot throwing')],
    ['Gharha throwing', true],
  )
  assert.deepEqual([(await read(glazing)).name, (await read(glazing)).aliases], ['pot glazing', ['shine on pots']])
  assert.equal((await operator.get(`${SKILLS}/${glazing}`)).body.data.often_required, true)
  assert.deepEqual(
    [(await read(firing)).name, (await read(firing)).aliases, (await read(selling)).skill_id],
    ['pot firing', [], firing],
    'the merged skill means the other one, which loses its labels',
  )
  assert.equal(await idOf('pot selling'), undefined)
  assert.ok(await idOf('Pot mending with gold'))
  assert.deepEqual(
    [await idOf('pot lettering'), (await read(letteringId)).name, (await read(letteringId)).aliases],
    [letteringId, 'Pot lettering', []],
    'an approved request keeps the skill',
  )
  const edited = await operator.call('PATCH', `${SKILLS}/${mending}`, { revision: 2, name: 'Mending' })
  assert.deepEqual([edited.status, edited.body.error.code], [409, 'CONFLICT'])
  assert.match(edited.body.error.message, /was withdrawn when the import that had added it was undone/)
  const again = (await partner.post('/skill-requests', { name: 'Pot mending' })).body.data
  assert.equal(again.status, 'pending')
  await approve(again.request_id)
  assert.equal(await idOf('pot mending'), mending, 'an approved request adds it again with the same ID')
})

test('an undo is rejected if a restored name is used, or if a skill was merged into one of the import', async () => {
  const { operator, partner, importSkills, undo, idOf, edit, readAnswers } = await setUp()
  await importSkills([
    { id: 'w1', name: 'willow plaiting' },
    { id: 'w2', name: 'rattan plaiting' },
  ])
  const [basket, mat] = [await idOf('willow plaiting'), await idOf('rattan plaiting')]
  const importId = await importSkills([
    { id: 'w1', name: 'willow basketry' },
    { id: 'w3', name: 'reed plaiting' },
  ])
  const cane = await idOf('reed plaiting')
  await edit(basket, { remove_aliases: ['willow plaiting'] }) // its former name
  await edit(mat, { name: 'Willow plaiting' })
  const names = ['willow basketry', 'willow plaiting', 'reed plaiting']
  const before = await readAnswers(names)
  await assert.rejects(
    undo(importId),
    new RegExp(`${basket} would be called "willow plaiting" again, which is the name of ${mat} now`),
  )
  await edit(mat, { name: 'Rattan plaiting by hand' })
  assert.equal((await operator.call('POST', `${SKILLS}/${mat}/merge`, { into: cane })).status, 200)
  await assert.rejects(undo(importId), new RegExp(`${mat} into ${cane}. Undo these merges first`))
  await operator.call('POST', `${SKILLS}/${mat}/undo-merge`, {})
  assert.deepEqual((await readAnswers(['reed plaiting'])).summary, before.summary, 'nothing was changed')
  await undo(importId)
  assert.equal((await partner.get(`/skills/${basket}`)).body.data.name, 'willow plaiting')
})

test('imports that changed nothing or did not store their changes cannot be undone', async () => {
  const { app, context, importSkills, undo } = await setUp()
  const rows = [{ id: 'n1', name: 'net mending' }]
  const first = await importSkills(rows)
  const repeated = await importSkills(rows)
  await assert.rejects(undo(repeated), /changed nothing/)
  await assert.rejects(undo('IM_UNKNOWN'), /NOT_FOUND: Import IM_UNKNOWN not found/)
  const now = new Date(app.clock.now())
  await context.db.queries
    .insertInto('catalogue_imports')
    .values(
      (['IM_00EARLIER', 'IM_00DRY', 'IM_00FAILED'] as const).map((import_id) => ({
        import_id,
        format: 'csv',
        file_name: 'x.csv',
        dry_run: import_id === 'IM_00DRY',
        status: import_id === 'IM_00FAILED' ? 'failed' : 'done',
        started_by: 'operator',
        started_at: now,
        alive_at: now,
      })),
    )
    .execute()
  await assert.rejects(undo('IM_00EARLIER'), /made by a version of Attestry that did not store the previous values/)
  await assert.rejects(undo('IM_00DRY'), /was a dry run/)
  await assert.rejects(undo('IM_00FAILED'), /failed and changed nothing/)
  await undo(first)
})

test('the admin key lists and undoes imports, and the undo is in the audit log', async () => {
  const { app, context, importSkills, idOf } = await setUp()
  const headers = { 'x-api-key': ADMIN_KEY }
  const importId = await importSkills([{ id: 'r1', name: 'rope splicing' }])
  assert.equal((await app.fetch('/api/admin/imports')).status, 403)
  const list = (await app.fetch('/api/admin/imports?limit=1', { headers })).body
  assert.equal(list.data[0].import_id, importId)
  assert.deepEqual([list.data[0].added, list.data[0].changed, list.data[0].can_undo], [1, 0, true])
  const path = `/api/admin/imports/${importId}/undo`
  const effects = (await app.fetch(path, { headers })).body.data
  assert.deepEqual([effects.withdrawn_skills, effects.records.mandates], [1, 0])
  assert.ok(await idOf('rope splicing'))
  const undone = await app.fetch(path, { method: 'POST', headers })
  assert.deepEqual([undone.status, undone.body.data], [200, effects])
  assert.equal(await idOf('rope splicing'), undefined)
  const again = await app.fetch(path, { method: 'POST', headers })
  assert.equal(again.status, 409)
  assert.match(again.body.message, /was already undone at .* by admin key/)
  assert.equal((await app.fetch('/api/admin/imports?limit=1', { headers })).body.data[0].undone_by, 'admin key')
  const entries = await context.db.queries
    .selectFrom('audit_log')
    .select(['action', 'details'])
    .where('subject', '=', importId)
    .execute()
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['catalogue.undo_import'],
  )
})
