import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, aMandate, prepareMandates, startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signIn, signInMember } from '../../test/support/console.ts'
import { createPartner, errorPaths } from '../../test/support/partners.ts'
import { insertPrivateItems } from '../../test/support/private-items.ts'
import { until } from '../../test/support/until.ts'
import { verificationCalls } from '../../test/support/verification.ts'
import { retireItem } from '../items/item-status.ts'
import { findRetiredItems } from '../items/item-store.ts'
import { loadBank } from '../questions/bank/bank.ts'
import { importTaxonomy } from './import/import.ts'
import type { Taxonomy } from './taxonomy.ts'

const startShared = oncePerFile((t) => startApp(t))
const SKILLS = '/operator/catalogue/skills'

async function setUp() {
  const app = await startShared()
  const operator = await signIn(app)
  return {
    app,
    operator,
    merge: (id: string, into: string) => operator.call('POST', `${SKILLS}/${id}/merge`, { into }),
    undo: (id: string) => operator.call('POST', `${SKILLS}/${id}/undo-merge`, {}),
    read: async (id: string) => (await operator.get(`${SKILLS}/${id}`)).body.data,
  }
}

function taxonomyOf(skills: { id: string; name: string; aliases?: string[] }[]): Taxonomy {
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
  }
}

/** Imports skills and returns their IDs. */
async function importSkills({ context, clock }: TestApp, skills: Parameters<typeof taxonomyOf>[0]): Promise<string[]> {
  await importTaxonomy(context.db, clock, taxonomyOf(skills))
  await context.catalogue.refresh()
  const rows = await context.db.queries.selectFrom('skill_sources').select(['source_id', 'skill_number']).execute()
  return skills.map(({ id }) => `sk_${rows.find(({ source_id }) => source_id === id)!.skill_number}`)
}

const numberOf = (id: string) => Number(id.slice(3))
const codeOf = ({ status, body }: { status: number; body: any }) =>
  body.success ? `${status}` : `${status} ${body.error?.code ?? body.code}`

test('the ID and the names of a merged skill mean the surviving skill, until the merge is undone', async () => {
  const { app, operator, merge, undo, read } = await setUp()
  const { get, post } = await createPartner(app)
  const [survivor, merged] = (await importSkills(app, [
    { id: 'kite-1', name: 'Kite building', aliases: ['patang banana'] },
    { id: 'kite-2', name: 'Making of kites', aliases: ['wau making', 'patang banana'] },
  ])) as [string, string]

  const effects = (await operator.get(`${SKILLS}/${merged}/merge?into=${survivor}`)).body.data
  assert.deepEqual(effects.new_aliases, ['Making of kites', 'wau making'])
  assert.equal((await read(merged)).merged_into, null, 'asking for the effects merges nothing')
  const response = await merge(merged, survivor)
  assert.equal(codeOf(response), '200')
  assert.deepEqual(
    response.body.data.merged_skills.map(({ skill_id, aliases }: any) => [skill_id, aliases]),
    [[merged, ['Making of kites', 'wau making', 'patang banana']]],
  )

  const record = (await get(`/skills/${merged}`)).body.data
  assert.deepEqual([record.skill_id, record.name, record.merged_skill_ids], [survivor, 'Kite building', [merged]])
  assert.deepEqual(record.aliases, ['patang banana', 'Making of kites', 'wau making'])
  const lookup = (await post('/skills/lookup', { skill_ids: [merged, survivor] })).body.data
  assert.deepEqual([lookup.found.map(({ skill_id }: any) => skill_id), lookup.missing], [[survivor], []])
  const named = (await post('/skills/lookup', { names: ['making of KITES'] })).body.data
  assert.equal(named.found[0].skill_id, survivor)
  const found = (await get('/skills/search?q=wau%20making')).body.data.items
  assert.equal(found[0].skill_id, survivor)
  assert.ok(!found.some(({ skill_id }: any) => skill_id === merged))
  const matched = (await post('/skills/match', { phrases: ['making of kites'] })).body.data.matches[0].candidates
  assert.equal(matched[0].skill_id, survivor)
  const publicRecord = (await app.fetch(`/api/skills/${merged}`)).body
  assert.equal(publicRecord.data.skill_id, survivor)
  const request = (await post('/skill-requests', { name: 'Making of Kites' })).body.data
  assert.deepEqual([request.status, request.skill_id], ['duplicate', survivor])
  assert.deepEqual((await read(merged)).merged_into.skill_id, survivor)

  assert.equal(codeOf(await undo(merged)), '200')
  assert.equal((await get(`/skills/${merged}`)).body.data.skill_id, merged)
  assert.equal('merged_skill_ids' in (await get(`/skills/${survivor}`)).body.data, false)
  assert.deepEqual((await get(`/skills/${survivor}`)).body.data.aliases, ['patang banana'])
  const audit = await app.context.db.queries
    .selectFrom('audit_log')
    .select(['action', 'details'])
    .where('subject', '=', merged)
    .orderBy('audit_id')
    .execute()
  assert.deepEqual(
    audit.map(({ action }) => action),
    ['skill.merge', 'skill.undo_merge'],
  )
})

test('an import changes a merged skill without separating it again', async () => {
  const { app, merge } = await setUp()
  const { get } = await createPartner(app)
  const rows = [
    { id: 'lamp-1', name: 'Lamp turning' },
    { id: 'lamp-2', name: 'Turning of lamps' },
  ]
  const [survivor, merged] = (await importSkills(app, rows)) as [string, string]
  await merge(merged, survivor)
  await importSkills(app, [rows[0]!, { ...rows[1]!, name: 'Turning lamps', aliases: ['deepak'] }])
  const record = (await get(`/skills/${merged}`)).body.data
  assert.equal(record.skill_id, survivor)
  assert.deepEqual(record.aliases, ['Turning lamps', 'deepak', 'Turning of lamps'])
})

test('chains of merges end at the last skill, and undoing one separates only its part', async () => {
  const { app, merge, undo } = await setUp()
  const { get } = await createPartner(app)
  const [a, b, c, d] = (await importSkills(app, [
    { id: 'chain-1', name: 'Chain folding' },
    { id: 'chain-2', name: 'Folding of chains' },
    { id: 'chain-3', name: 'Paper chain folding' },
    { id: 'chain-4', name: 'Folding of paper chains' },
  ])) as [string, string, string, string]
  const meaningOf = async (id: string) => (await get(`/skills/${id}`)).body.data.skill_id
  await merge(a, b)
  await merge(b, c)
  await merge(c, d)
  assert.deepEqual([await meaningOf(a), await meaningOf(b), await meaningOf(c)], [d, d, d])
  await undo(c)
  assert.deepEqual([await meaningOf(a), await meaningOf(b), await meaningOf(c)], [c, c, c])
  await undo(b)
  assert.deepEqual([await meaningOf(a), await meaningOf(b), await meaningOf(c)], [b, b, c])
})

test('impossible merges are rejected with the reason', async () => {
  const { app, operator, merge, undo } = await setUp()
  const [a, b, c] = (await importSkills(app, [
    { id: 'bad-1', name: 'Fan folding' },
    { id: 'bad-2', name: 'Folding of fans' },
    { id: 'bad-3', name: 'Paper fan folding' },
  ])) as [string, string, string]
  assert.match((await merge(a, a)).body.error.message, /cannot be merged into itself/)
  assert.equal(codeOf(await merge(a, 'sk_999999999')), '404 NOT_FOUND')
  assert.equal(codeOf(await merge('sk_999999999', a)), '404 NOT_FOUND')
  assert.equal(codeOf(await merge(a, 'ss_201')), '400 VALIDATION_FAILED')
  assert.match((await undo(a)).body.error.message, /is not merged into another skill/)
  await merge(a, b)
  assert.equal((await merge(a, c)).body.error.message, `${a} has already been merged into ${b}.`)
  assert.match((await merge(b, a)).body.error.message, /so they are the same skill/)
  assert.equal((await merge(c, a)).body.error.message, `${a} has been merged into ${b}. Merge into ${b} instead.`)
  const { revision } = (await operator.get(`${SKILLS}/${a}`)).body.data
  const change = await operator.call('PATCH', `${SKILLS}/${a}`, { revision, name: 'Other fans' })
  assert.match(change.body.error.message, /has been merged into Folding of fans/)
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  assert.equal((await owner.call('POST', `${SKILLS}/${c}/merge`, { into: b })).status, 403)
})

test('the admin key merges skills and undoes the merge', async () => {
  const { app } = await setUp()
  const [survivor, merged] = (await importSkills(app, [
    { id: 'admin-1', name: 'Star cutting' },
    { id: 'admin-2', name: 'Cutting of stars' },
  ])) as [string, string]
  const call = (path: string, body?: object, key = ADMIN_KEY) => {
    const init = { method: body ? 'POST' : 'GET', headers: { 'x-api-key': key, 'content-type': 'application/json' } }
    return app.fetch(`/api/admin/skills/${path}`, body ? { ...init, body: JSON.stringify(body) } : init)
  }
  assert.equal((await call(`${merged}/merge`, { into: survivor }, 'wrong-key-00000000000000')).status, 403)
  assert.equal((await call(`${merged}/merge?into=${survivor}`)).body.data.into.skill_id, survivor)
  assert.equal((await call(`${merged}/merge`, { into: survivor })).body.data.skill_id, survivor)
  assert.equal((await call(`${merged}/merge`, { into: survivor })).status, 409)
  assert.equal((await call(`${merged}/undo-merge`, {})).body.data.skill_id, merged)
  assert.equal((await call(`${merged}/undo-merge`, {})).status, 409)
})

test('verification stays off for a skill into which skills with questions are merged', async () => {
  const { app, operator, merge, undo, read } = await setUp()
  const [survivor] = (await importSkills(app, [{ id: 'plaster-1', name: 'Lime plaster polishing' }])) as [string]
  const merged = 'sk_1021'
  assert.equal((await read(survivor)).verifiable, false)
  const before = (await read(survivor)).revision
  assert.equal(codeOf(await merge(merged, survivor)), '200')
  const outdated = await operator.call('PATCH', `${SKILLS}/${survivor}`, { revision: before, verification: false })
  assert.equal(codeOf(outdated), '409 CONFLICT', 'the change was prepared before the merge')
  assert.equal((await read(survivor)).verifiable, true)
  const { revision } = await read(survivor)
  const change = await operator.call('PATCH', `${SKILLS}/${survivor}`, { revision, verification: false })
  assert.equal(codeOf(change), '200')
  const { verifiable, verifiable_reason } = await read(survivor)
  assert.deepEqual([verifiable, verifiable_reason], [false, 'switched_off'])
  const { get } = await createPartner(app)
  assert.equal((await get(`/skills/${survivor}`)).body.data.verifiable, false)
  assert.equal(codeOf(await undo(merged)), '200')
  assert.equal((await read(merged)).verifiable, true)
})

test('attempts and endorsements of a merged skill count for the surviving skill', async () => {
  const { app, merge, undo } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const [old, survivor] = ['sk_1032', 'sk_1039']
  const failed = await calls.openPreparedSession('assessment', { skills: [old] })
  for (let attempt = 0; attempt < 3; attempt++) {
    assert.equal((await calls.generateAssessment(failed)).status, 200)
    await calls.submitAnswers(failed, [])
  }
  const other = { externalStudentId: 'stu-2', email: 'other@example.com' }
  const passed = await calls.openPreparedSession('assessment', { skills: [old], student: other })
  await calls.generateAssessment(passed)
  const right = (await calls.getCorrectAnswers(passed)).map(({ questionId, option }) => ({ questionId, option }))
  assert.equal((await calls.submitAnswers(passed, right)).body.data.passed, true)

  assert.equal(codeOf(await merge(old, survivor)), '200')
  const repeated = await calls.openPreparedSession('assessment', { skills: [survivor] })
  assert.equal(codeOf(await calls.generateAssessment(repeated)), '403 ATTEMPTS_EXHAUSTED')
  const again = await calls.openSession(other)
  const [, , items] = [
    await calls.storeSkills(again, [survivor]),
    await calls.chooseMethod(again, 'assessment'),
    await calls.storeItems(again),
  ]
  assert.equal(codeOf(items), '409 ASSESSMENT_ALREADY_PASSED')
  const both = await calls.storeSkills(await calls.openSession(), [old, survivor])
  assert.equal(codeOf(both), '400 INVALID_SKILL')
  assert.match(both.body.error.message, /is the same skill as sk_1032/)
  const withOldId = await calls.openSession()
  assert.equal((await calls.storeSkills(withOldId, [old])).status, 200)
  assert.equal((await calls.getFullVerification(withOldId)).skills?.[0]?.skillId ?? old, old, 'the ID stays as sent')

  await undo(old)
  assert.equal((await calls.generateAssessment(repeated)).status, 200)
})

test('a source cannot be endorsed for a skill twice under its two IDs', async () => {
  const { app, merge, undo } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const [old, survivor] = ['sk_1005', 'sk_1006']
  const { session, token } = await calls.requestReview({ skills: [old] })
  const review = { decisions: [{ skillId: old, endorsed: true }] }
  assert.equal((await calls.submitReview(session, token, review)).status, 200)
  await merge(old, survivor)
  const second = await calls.openSession()
  await calls.storeSkills(second, [survivor])
  await calls.chooseMethod(second, 'human')
  assert.equal(codeOf(await calls.storeItems(second)), '409 DUPLICATE_SKILLS_IN_BUNDLE')
  await undo(old)
  assert.equal((await calls.storeItems(second)).status, 200)
})

test('questions of merged skills are asked about the surviving skill, and retired ones are not', async () => {
  const { app, merge, undo } = await setUp()
  const { context } = app
  const { orgId, get, post } = await createPartner(app)
  const [survivor, merged] = (await importSkills(app, [
    { id: 'mask-1', name: 'Mask painting' },
    { id: 'mask-2', name: 'Painting of masks' },
  ])) as [string, string]
  const ids = await insertPrivateItems(context, orgId, { skillNumber: numberOf(merged), count: 14 })
  await until(async () => (await get(`/skills/${merged}`)).body.data.verifiable === true)
  assert.equal((await get(`/skills/${survivor}`)).body.data.verifiable, false)
  await context.db.transaction((tx) =>
    retireItem(tx, context, { itemId: ids[0]!, skillNumber: numberOf(merged), source: 'private', orgId }, 'manual'),
  )
  await merge(merged, survivor)
  assert.equal((await get(`/skills/${survivor}`)).body.data.verifiable, true)
  assert.deepEqual((await get('/items/skills')).body?.data?.items?.map(({ skill_id }: any) => skill_id) ?? [survivor], [
    survivor,
  ])
  assert.equal((await get(`/items?skill_id=${survivor}`)).body.data.items.length, 14)
  assert.ok((await findRetiredItems(context.db.queries, [numberOf(survivor)])).has(ids[0]!))

  const workflow = (
    await post('/workflows', {
      name: 'Merged',
      default_methods: ['skill_verification'],
      channels: ['whatsapp'],
      languages: ['en'],
    })
  ).body.data
  const create = (skills: object[]) => post('/mandates', { ...aMandate(workflow.workflow_id), skills })
  const twice = await create([{ skill_id: survivor }, { skill_id: merged }])
  assert.deepEqual(errorPaths(twice), ['skills[1].skill_id'])
  const accepted = await create([{ skill_id: merged, verify: true }])
  assert.equal(accepted.status, 202)
  const { mandate_id } = accepted.body.data
  await prepareMandates(context)
  const { questions, skills } = (await get(`/mandates/${mandate_id}`)).body.data
  assert.deepEqual([skills[0].skill_id, questions.skills[0].skill_id], [merged, merged], 'the ID stays as sent')
  assert.deepEqual([questions.skills[0].name, questions.skills[0].item_source], ['Mask painting', 'private'])
  await undo(merged)
  await until(async () => (await get(`/skills/${survivor}`)).body.data.verifiable === false)
  assert.equal((await get(`/skills/${merged}`)).body.data.verifiable, true)
  assert.equal((await get(`/skills/${survivor}`)).body.data.verifiable, false)
})

test('skills of a mandate that are merged before it is prepared are asked about once, with the ID of the first', async () => {
  const { app, merge, undo } = await setUp()
  const { get, post } = await createPartner(app)
  const [first, second] = ['sk_1001', 'sk_1016']
  const workflow = await post('/workflows', {
    name: 'Merged later',
    default_methods: ['skill_verification'],
    channels: ['whatsapp'],
    languages: ['en'],
  })
  const skills = [first, second].map((skill_id) => ({ skill_id, verify: true }))
  const accepted = await post('/mandates', { ...aMandate(workflow.body.data.workflow_id), skills })
  assert.equal(accepted.status, 202)
  await merge(first, second)
  await prepareMandates(app.context)
  const { questions } = (await get(`/mandates/${accepted.body.data.mandate_id}`)).body.data
  assert.deepEqual(
    questions.skills.map(({ skill_id }: any) => skill_id),
    [first],
  )
  await undo(first)
})

test('the built-in questions of a merged skill stay retired and count for the surviving skill', async () => {
  const { app, merge, undo } = await setUp()
  const { context } = app
  const { get } = await createPartner(app)
  const [survivor] = (await importSkills(app, [{ id: 'pipe-1', name: 'Paper pipe laying' }])) as [string]
  const merged = 'sk_1042'
  const itemId = (await loadBank()).itemsOf(1042)[0]!.id
  assert.equal((await get(`/skills/${survivor}`)).body.data.verifiable, false)
  await merge(merged, survivor)
  assert.equal((await get(`/skills/${survivor}`)).body.data.verifiable, true)
  await context.db.transaction((tx) =>
    retireItem(tx, context, { itemId, skillNumber: 1042, source: 'bank', orgId: undefined }, 'manual'),
  )
  assert.ok((await findRetiredItems(context.db.queries, [numberOf(survivor)])).has(itemId))
  await undo(merged)
  assert.equal((await get(`/skills/${survivor}`)).body.data.verifiable, false)
})

test('a user cannot select a skill twice under its two IDs', async () => {
  const { app, merge } = await setUp()
  const [survivor, merged] = (await importSkills(app, [
    { id: 'sel-1', name: 'Bead stringing' },
    { id: 'sel-2', name: 'Stringing of beads' },
  ])) as [string, string]
  const details = (await app.fetch(`/api/skills/${merged}`)).body.data
  const select = (skill_id: string, user_id: string) => {
    const { sub_skill_id, master_skill_id } = details
    const body = JSON.stringify({ user_id, skill_id, sub_skill_id, master_skill_id })
    const headers = { 'content-type': 'application/json' }
    return app.fetch('/api/selected-skills', { method: 'POST', headers, body })
  }
  assert.equal((await select(merged, 'early-user')).status, 201)
  await merge(merged, survivor)
  assert.equal((await select(survivor, 'early-user')).status, 409)
  const selected = await select(merged, 'late-user')
  assert.deepEqual([selected.status, selected.body.data.skill_id], [201, survivor])
})
