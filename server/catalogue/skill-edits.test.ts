import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, aMandate, startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { type ConsoleUser, signIn, signInMember } from '../../test/support/console.ts'
import { createPartner, errorPaths } from '../../test/support/partners.ts'
import { insertPrivateItems } from '../../test/support/private-items.ts'
import { verificationCalls } from '../../test/support/verification.ts'
import { importTaxonomy } from './import/import.ts'
import type { Taxonomy } from './taxonomy.ts'

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  const operator = await signIn(app)
  return { app, operator, ...callsOf(operator) }
}

const WORKFLOW = {
  name: 'Verify skills',
  default_methods: ['skill_verification'],
  channels: ['whatsapp'],
  languages: ['en'],
}
const SKILLS = '/operator/catalogue/skills'

function callsOf(operator: ConsoleUser) {
  const read = async (id: string) => (await operator.get(`${SKILLS}/${id}`)).body.data
  return {
    read,
    /** Changes a skill on top of its current revision. */
    change: async (id: string, body: object) =>
      operator.call('PATCH', `${SKILLS}/${id}`, { revision: (await read(id)).revision, ...body }),
  }
}

function taxonomyOf(skills: { id: string; name: string; aliases?: string[]; verifiable?: boolean }[]): Taxonomy {
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
async function importSkills({ context, clock }: TestApp, skills: Parameters<typeof taxonomyOf>[0]) {
  const { db, catalogue } = context
  const summary = await importTaxonomy(db, clock, taxonomyOf(skills))
  await catalogue.refresh()
  const rows = await db.queries.selectFrom('skill_sources').select(['source_id', 'skill_number']).execute()
  const numbers = new Map(rows.map(({ source_id, skill_number }) => [source_id, skill_number]))
  return { summary, ids: skills.map(({ id }) => `sk_${numbers.get(id)}`) }
}

function changeWithAdminKey(app: TestApp, id: string, body: object) {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
  return app.fetch(`/api/admin/skills/${id}`, { method: 'PATCH', headers, body: JSON.stringify(body) })
}

/** Returns the notifications of an organisation, as its owner sees them. */
async function notificationTexts(app: TestApp, orgId: string): Promise<string[]> {
  const owner = await signInMember(app, orgId, 'owner')
  return (await owner.get(`/orgs/${orgId}/live/notifications`)).body.data.items.map(({ text }: any) => text)
}

test('the operator finds skills on every level by name, alias and ID, with filters', async () => {
  const { app, operator } = await setUp()
  await importSkills(app, [{ id: 'find-1', name: 'Kite folding', aliases: ['patang folding'] }])
  const list = async (path: string) => (await operator.get(`/operator/catalogue/${path}`)).body.data
  const namesOf = ({ items }: any) => items.map(({ name }: any) => name)

  assert.equal(namesOf(await list('skills?q=patang%20folding'))[0], 'Kite folding')
  assert.deepEqual(namesOf(await list('skills?q=sk_1001')), ['Bricklaying'])
  assert.ok(!namesOf(await list('skills?q=kite%20folding&verifiable=true')).includes('Kite folding'))
  assert.ok(namesOf(await list('skills?q=kite%20folding&verifiable=false')).includes('Kite folding'))
  assert.ok(!namesOf(await list('skills?q=kite%20folding&questions=built_in')).includes('Kite folding'))
  assert.ok(namesOf(await list('skills?q=kite%20folding&questions=none&source=esco')).includes('Kite folding'))
  assert.deepEqual(namesOf(await list('skills?q=sk_1001&source=esco')), [])
  assert.deepEqual(namesOf(await list('groups?level=sub_skill&q=paper%20craft')), ['Paper craft'])
  assert.deepEqual(namesOf(await list('groups?level=master_skill&q=ms_1')), ['Construction and masonry'])

  const first = await list('skills?limit=2')
  const second = await list(`skills?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`)
  assert.ok(first.total > 500)
  assert.equal(second.total, null)
  assert.equal(new Set([...namesOf(first), ...namesOf(second)]).size, 4)
})

test('the page of a skill shows its place, why it is verifiable, and where it is used', async () => {
  const { app, operator, read } = await setUp()
  const partner = await createPartner(app)
  await app.fixtures.createMandate(
    { orgId: partner.orgId, mode: 'live' },
    { skills: [{ skill_id: 'sk_1016', verify: true }] },
  )
  const calls = verificationCalls(app, partner.orgId, await app.fixtures.createSessionKey(partner.orgId))
  assert.equal((await calls.storeSkills(await calls.openSession(), ['sk_1016'])).status, 200)
  await insertPrivateItems(app.context, partner.orgId, { skillNumber: 1016, count: 12 })
  const skill = await read('sk_1016')
  assert.deepEqual(
    [skill.name, skill.master_skill.name, skill.verifiable, skill.verifiable_reason, skill.built_in_questions],
    ['Cement plastering', 'Construction and masonry', true, 'built_in_questions', true],
  )
  assert.deepEqual([skill.own_questions, skill.organisations_with_questions], [12, 1])
  const listed = (await operator.get(`${SKILLS}?q=sk_1016&questions=own`)).body.data.items
  assert.deepEqual(
    listed.map(({ skill_id, own_questions }: any) => [skill_id, own_questions]),
    [['sk_1016', 12]],
  )
  const use = (await operator.get(`${SKILLS}/sk_1016/use`)).body.data
  assert.deepEqual(use, { mandates: 1, sessions: 1, selected_skills: 0 })
  assert.equal((await operator.get(`${SKILLS}/sk_999999999`)).status, 404)
})

test('a renamed skill keeps its old name as an alias, and its name in later imports', async () => {
  const { app, operator, change, read } = await setUp()
  const { get } = await createPartner(app)
  const rows = [{ id: 'rename-1', name: 'Lantern weaving', aliases: ['kandil'] }]
  const [id] = (await importSkills(app, rows)).ids as [string]
  const response = await change(id, { name: ' Paper  lantern making ' })
  assert.equal(response.status, 200, JSON.stringify(response.body))
  assert.deepEqual(
    [response.body.data.name, response.body.data.aliases, response.body.data.is_renamed],
    ['Paper lantern making', ['kandil', 'Lantern weaving'], true],
  )
  assert.equal((await get('/skills/search?q=paper%20lantern%20making')).body.data.items[0].skill_id, id)
  assert.equal((await get('/skills/search?q=lantern%20weaving')).body.data.items[0].skill_id, id)

  const { summary } = await importSkills(app, [
    { id: 'rename-1', name: 'Lantern weaving by hand', aliases: ['akash kandil'] },
  ])
  const afterImport = await read(id)
  assert.equal(afterImport.name, 'Paper lantern making')
  assert.ok(afterImport.aliases.includes('Lantern weaving by hand'))
  assert.ok(afterImport.aliases.includes('akash kandil'))
  assert.deepEqual(summary.kept_names, [
    { at: 'file:2', skill_id: id, name: 'Paper lantern making', name_in_file: 'Lantern weaving by hand' },
  ])
  assert.deepEqual(summary.renamed, [])
  // A row of another source with the replaced name belongs to the skill.
  const { ids } = await importSkills(app, [{ id: 'rename-2', name: 'Lantern weaving by hand' }])
  assert.deepEqual(ids, [id])

  const { items } = (await operator.get(`/operator/audit?subject=${id}`)).body.data
  assert.deepEqual(
    [items[0].action, items[0].who, items[0].details.name, items[0].details.old_name],
    ['skill.change', operator.email, 'Paper lantern making', 'Lantern weaving'],
  )
})

test('aliases are added and removed, and imports do not add removed ones again', async () => {
  const { app, change, read } = await setUp()
  const rows = [{ id: 'alias-1', name: 'Toy carving', aliases: ['khilona', 'toy making'] }]
  const [id] = (await importSkills(app, rows)).ids as [string]
  await change(id, { add_aliases: ['wooden toys'], remove_aliases: ['KHILONA'] })
  const { aliases } = await read(id)
  assert.deepEqual(aliases, ['toy making', 'wooden toys'])
  await importSkills(app, [{ ...rows[0]!, aliases: ['khilona', 'toy making', 'toy turning'] }])
  assert.deepEqual((await read(id)).aliases, ['toy making', 'toy turning', 'wooden toys'])
  const unchanged = await change(id, { add_aliases: ['wooden toys'] })
  assert.equal(unchanged.body.data.revision, (await read(id)).revision)
})

test('values that a source already has become those of the operator, and stay when the source drops them', async () => {
  const { app, operator, change, read } = await setUp()
  const row = { id: 'pin-1', name: 'Puppet carving', aliases: ['kathputli'], verifiable: true }
  const [id] = (await importSkills(app, [row])).ids as [string]
  const { revision } = await read(id)
  const changed = (await change(id, { add_aliases: ['kathputli'], often_required: true })).body.data
  assert.deepEqual([changed.revision, changed.added_aliases], [revision + 1, ['kathputli']])
  const { items } = (await operator.get(`/operator/audit?subject=${id}`)).body.data
  assert.deepEqual(items[0].details, { name: 'Puppet carving', added_aliases: ['kathputli'], often_required: true })
  const repeated = await change(id, { name: 'Puppet carving', add_aliases: ['Kathputli'], often_required: true })
  assert.equal(repeated.body.data.revision, revision + 1)
  await importSkills(app, [{ ...row, aliases: [], verifiable: false }])
  const { aliases, often_required } = await read(id)
  assert.deepEqual([aliases, often_required], [['kathputli'], true])
})

test('a change is answered although the catalogue cannot be reloaded, with the stored values', async () => {
  const { app, change, read } = await setUp()
  const { db, catalogue } = app.context
  const renameTable = (from: string, to: string) =>
    db.asOwner(({ pool }) => pool.query(`alter table ${from} rename to ${to}`))
  const [id] = (await importSkills(app, [{ id: 'reload-1', name: 'Slate cutting' }])).ids as [string]
  const { revision } = await read(id)
  await renameTable('master_skills', 'renamed_master_skills')
  try {
    const response = await change('sk_2001', { verification: false })
    assert.equal(response.status, 200, JSON.stringify(response.body))
    const { verifiable, verifiable_reason, verification } = response.body.data
    assert.deepEqual([verifiable, verifiable_reason, verification], [false, 'switched_off', false])
    assert.equal((await changeWithAdminKey(app, id, { revision, name: 'Slate tile cutting' })).status, 200)
  } finally {
    await renameTable('renamed_master_skills', 'master_skills')
  }
  await catalogue.refresh()
  assert.equal((await change('sk_2001', { verification: true })).body.data.verifiable, true)
})

test('a name or alias of another skill is rejected with the skill that has it', async () => {
  const { app, change } = await setUp()
  const rows = [
    { id: 'clash-1', name: 'Drum making', aliases: ['dholak making'] },
    { id: 'clash-2', name: 'Drum tuning' },
  ]
  const [makingId, tuningId] = (await importSkills(app, rows)).ids as [string, string]
  const nameResponse = await change(tuningId, { name: 'drum  MAKING' })
  assert.equal(nameResponse.status, 409)
  assert.equal(
    nameResponse.body.error.message,
    `"drum MAKING" is already the name of ${makingId}; choose another name.`,
  )
  const aliasResponse = await change(tuningId, { add_aliases: ['tabla tuning', 'Dholak making'] })
  assert.equal(aliasResponse.status, 409)
  assert.match(
    aliasResponse.body.error.message,
    new RegExp(`"Dholak making" is already an alias of Drum making \\(${makingId}\\); remove the alias there first`),
  )
  assert.deepEqual(errorPaths(aliasResponse), ['add_aliases[1]'])
  const invalidResponse = await change(tuningId, { name: '!!!', remove_aliases: ['no alias'] })
  assert.equal(invalidResponse.status, 400)
  assert.deepEqual(errorPaths(invalidResponse), ['name', 'remove_aliases[0]'])
  const contradiction = await change(makingId, { add_aliases: ['dholak making'], remove_aliases: ['Dholak making'] })
  assert.equal(contradiction.status, 400)
  assert.deepEqual(errorPaths(contradiction), ['remove_aliases[0]'])
})

test('a change on an old revision is rejected', async () => {
  const { app, change, operator, read } = await setUp()
  const [id] = (await importSkills(app, [{ id: 'stale-1', name: 'Bead stringing' }])).ids as [string]
  const { revision } = await read(id)
  await change(id, { add_aliases: ['moti work'] })
  const response = await operator.call('PATCH', `${SKILLS}/${id}`, { revision, name: 'Bead work' })
  assert.equal(response.status, 409)
  assert.match(response.body.error.message, /has been changed in the meantime.*Load it again/)
  assert.equal((await read(id)).name, 'Bead stringing')
})

test('verification of a skill can be switched off, but not without questions on', async () => {
  const { app, change, read } = await setUp()
  const { get, post } = await createPartner(app)
  const off = (await change('sk_2001', { verification: false })).body.data
  assert.deepEqual([off.verifiable, off.verifiable_reason], [false, 'switched_off'])
  assert.equal((await get('/skills/sk_2001')).body.data.verifiable, false)
  const { workflow_id } = (await post('/workflows', WORKFLOW)).body.data
  const rejected = await post('/mandates', {
    ...aMandate(workflow_id),
    skills: [{ skill_id: 'sk_2001', verify: true }],
  })
  assert.equal(rejected.status, 400, JSON.stringify(rejected.body))
  assert.match(rejected.body.error.message, /operator has switched its verification off/)
  assert.equal((await change('sk_2001', { verification: true })).body.data.verifiable, true)

  const [id] = (await importSkills(app, [{ id: 'verify-1', name: 'Basket lining' }])).ids as [string]
  const { verifiable, verifiable_reason, often_required } = (
    await change(id, { verification: true, often_required: true })
  ).body.data
  assert.deepEqual([verifiable, verifiable_reason, often_required], [false, 'too_few_questions', true])
  await importSkills(app, [{ id: 'verify-1', name: 'Basket lining', aliases: ['tokri lining'] }])
  assert.equal((await read(id)).often_required, true)
})

test('the admin key browses and changes skills', async () => {
  const { app, operator } = await setUp()
  const [id, otherId] = (
    await importSkills(app, [
      { id: 'admin-1', name: 'Loom repairing' },
      { id: 'admin-2', name: 'Loom mending' },
    ])
  ).ids as [string, string]
  const call = (method: string, path: string, body?: object, key = ADMIN_KEY) =>
    app.fetch(`/api/admin/skills${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  for (const [method, path] of [
    ['GET', ''],
    ['GET', `/${id}`],
    ['PATCH', `/${id}`],
  ] as const)
    assert.equal((await call(method, path, method === 'GET' ? undefined : {}, 'wrong')).status, 403)
  const page = (await call('GET', '?keyword=loom%20mending&source=esco')).body
  assert.equal(page.data[0].skill_id, otherId)
  const { revision } = (await call('GET', `/${id}`)).body.data
  const changed = await call('PATCH', `/${id}`, { revision, name: 'Handloom repair' })
  assert.equal(changed.status, 200, JSON.stringify(changed.body))
  assert.equal((await call('PATCH', `/${id}`, { revision, name: 'Handloom' })).status, 409)
  assert.equal((await call('PATCH', `/${id}`, { name: 'Handloom' })).status, 400)
  const { items } = (await operator.get(`/operator/audit?subject=${id}`)).body.data
  assert.deepEqual([items[0].action, items[0].who, items[0].actor], ['skill.change', 'admin key', 'key'])
})

test('a request is approved as an existing skill, which later requests for the name return', async () => {
  const { app, operator, change, read } = await setUp()
  const partner = await createPartner(app)
  const requested = (await partner.post('/skill-requests', { name: 'Laying of bricks' })).body.data
  const similar = (await operator.get(`/operator/skill-requests/${requested.request_id}/similar-skills`)).body.data
    .items
  assert.ok(
    similar.some((skill: any) => skill.skill_id === 'sk_1001'),
    JSON.stringify(similar),
  )
  const mandate = await app.fixtures.createMandate(
    { orgId: partner.orgId, mode: 'live' },
    { skills: [{ name: 'Laying of bricks', pending: true }] },
  )
  const path = `/operator/skill-requests/${requested.request_id}/approve`
  assert.equal((await operator.post(path, {})).status, 400)
  assert.equal((await operator.post(path, { same_as: 'sk_1001', sub_skill_id: 'ss_101' })).status, 400)
  assert.equal((await operator.post(path, { same_as: 'sk_999999999' })).status, 404)
  const approved = await operator.post(path, { same_as: 'sk_1001' })
  assert.equal(approved.status, 200, JSON.stringify(approved.body))
  const { status, skill_id } = (await partner.get(`/skill-requests/${requested.request_id}`)).body.data
  assert.deepEqual([status, skill_id], ['approved', 'sk_1001'])
  assert.ok((await read('sk_1001')).aliases.includes('Laying of bricks'))
  const { skills } = (await partner.get(`/mandates/${mandate.mandate_id}`)).body.data
  assert.deepEqual(skills, [{ skill_id: 'sk_1001', verify: false }])
  assert.deepEqual(await notificationTexts(app, partner.orgId), [
    'The requested skill “Laying of bricks” is in the catalogue as “Bricklaying”',
  ])

  const other = await createPartner(app)
  const repeated = await other.post('/skill-requests', { name: 'laying OF bricks' })
  assert.equal(repeated.status, 200, JSON.stringify(repeated.body))
  assert.deepEqual([repeated.body.data.status, repeated.body.data.skill_id], ['duplicate', 'sk_1001'])
  assert.equal((await change('sk_1001', { remove_aliases: ['Laying of bricks'] })).status, 200)
  const requestedAgain = (await partner.post('/skill-requests', { name: 'Laying of bricks' })).body.data
  assert.equal(requestedAgain.status, 'pending')
  await operator.post(`/operator/skill-requests/${requestedAgain.request_id}/approve`, { same_as: 'sk_1002' })
  const moved = (await other.post('/skill-requests', { name: 'Laying of bricks' })).body.data
  assert.deepEqual([moved.request_id, moved.skill_id], [repeated.body.data.request_id, 'sk_1002'])
})

test('a request for an alias of the catalogue stays pending until an operator decides what it means', async () => {
  const { app, operator } = await setUp()
  const partner = await createPartner(app)
  const [id] = (await importSkills(app, [{ id: 'request-1', name: 'Quilt stitching', aliases: ['godhadi'] }])).ids
  const requested = (await partner.post('/skill-requests', { name: 'Godhadi' })).body.data
  assert.equal(requested.status, 'pending')
  await operator.post(`/operator/skill-requests/${requested.request_id}/approve`, { same_as: id })
  const other = await createPartner(app)
  const repeated = (await other.post('/skill-requests', { name: 'godhadi' })).body.data
  assert.deepEqual([repeated.status, repeated.skill_id], ['duplicate', id])
})

test('a request cannot be approved as one skill if its name is the name of another', async () => {
  const { app, operator } = await setUp()
  const partner = await createPartner(app)
  const { request_id } = (await partner.post('/skill-requests', { name: 'Cane splitting' })).body.data
  const [id] = (await importSkills(app, [{ id: 'request-2', name: 'cane  Splitting' }])).ids as [string]
  const approve = (same_as: string) => operator.post(`/operator/skill-requests/${request_id}/approve`, { same_as })
  const response = await approve('sk_1001')
  assert.equal(response.status, 409, JSON.stringify(response.body))
  assert.equal(
    response.body.error.message,
    `"Cane splitting" is already the name of ${id}. Approve the request as that skill.`,
  )
  assert.equal((await approve(id)).status, 200)
})

test('a request is rejected with or without a reason, which the partner sees', async () => {
  const { app, operator } = await setUp()
  const partner = await createPartner(app)
  const reject = async (name: string, ...body: object[]) => {
    const { request_id } = (await partner.post('/skill-requests', { name })).body.data
    const response = await operator.post(`/operator/skill-requests/${request_id}/reject`, ...body)
    assert.equal(response.status, 200, JSON.stringify(response.body))
    return (await partner.get(`/skill-requests/${request_id}`)).body.data
  }
  const reason = 'This is not a skill that can be shown.'
  assert.equal((await reject('Being nice', { reason })).rejection_reason, reason)
  const events = (await partner.get('/events?type=skill_request.resolved')).body.data.items
  assert.equal(events.at(-1).data.rejection_reason, reason)
  assert.deepEqual(await notificationTexts(app, partner.orgId), [
    `The request for the skill “Being nice” was rejected: ${reason}`,
  ])
  assert.deepEqual(
    [(await reject('Being kind')).status, (await reject('Being calm', {})).status],
    ['rejected', 'rejected'],
  )
  assert.ok(!('rejection_reason' in (await reject('Being fair'))))
})

test('members cannot change the catalogue', async () => {
  const { app } = await setUp()
  const { orgId } = await createPartner(app)
  const owner = await signInMember(app, orgId, 'owner')
  assert.equal((await owner.get(`${SKILLS}/sk_1001`)).status, 403)
  assert.equal((await owner.call('PATCH', `${SKILLS}/sk_1001`, { revision: 1, name: 'Mine' })).status, 403)
})
