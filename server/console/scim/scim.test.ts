import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { TestClock } from '../../../test/support/clock.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'
import { CLIENT, startIdentityProvider } from '../../../test/support/identity-provider.ts'
import { until } from '../../../test/support/until.ts'
import { HOUR, SECOND } from '../../platform/clock.ts'
import { lockMembers } from '../auth/members.ts'

const startShared = oncePerFile(async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const idp = await startIdentityProvider(t, app.url)
  return { app, idp }
})

const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'
const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

/** Creates an organisation with a provider and a SCIM token. */
async function startOrganisation() {
  const { app, idp } = await startShared()
  app.clock.advance(HOUR)
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner', `owner-${orgId.toLowerCase()}@metro.example`)
  const settings = {
    name: 'Metro ID',
    issuer: idp.issuer,
    ...CLIENT,
    allowed_domains: ['metro.example'],
    default_role: 'viewer',
    role_mappings: [{ group: 'Recruiters', role: 'recruiter' }],
  }
  const path = `/orgs/${orgId}/identity-provider`
  assert.equal((await owner.post(`${path}/scim-token`)).status, 409, 'without a provider')
  assert.equal((await owner.put(path, settings)).status, 200)
  const { token } = (await owner.post(`${path}/scim-token`)).body.data
  return { app, orgId, owner, path, settings, scim: scimClient(app, token) }
}

function scimClient(app: TestApp, token: string) {
  const call = (method: string) => (path: string, body?: object) =>
    app.fetch(`/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  return { get: call('GET'), post: call('POST'), put: call('PUT'), patch: call('PATCH'), delete: call('DELETE') }
}

const aUser = (name: string) => ({
  schemas: [USER_SCHEMA],
  userName: `${name}@metro.example`,
  externalId: `ext-${name}`,
  name: { givenName: 'Asha', familyName: 'Rao' },
  emails: [{ value: `${name}@metro.example`, primary: true }],
  active: true,
})

const patchOf = (...Operations: object[]) => ({ schemas: [PATCH_SCHEMA], Operations })

async function findMember(owner: Awaited<ReturnType<typeof signIn>>, orgId: string, email: string) {
  const { items } = (await owner.get(`/orgs/${orgId}/members`)).body.data
  return items.find((member: any) => member.email === email)
}

async function roleOf(owner: Awaited<ReturnType<typeof signIn>>, orgId: string, email: string) {
  return (await findMember(owner, orgId, email))?.role
}

test('texts that cannot be stored are rejected', async () => {
  const { scim } = await startOrganisation()
  const { id } = (await scim.post('/Users', aUser('farida'))).body
  for (const text of ['a\0b', '\ud800']) {
    const group = { schemas: [GROUP_SCHEMA], displayName: text }
    const user = { ...aUser('bina'), externalId: text }
    for (const response of [
      await scim.post('/Groups', group),
      await scim.post('/Users', user),
      await scim.put(`/Users/${id}`, user),
      await scim.patch(`/Users/${id}`, patchOf({ op: 'replace', path: 'displayName', value: text })),
    ])
      assert.deepEqual([response.status, response.body.scimType], [400, 'invalidValue'], JSON.stringify(response.body))
  }
  const filter = encodeURIComponent(String.raw`userName eq "\u0000"`)
  assert.equal((await scim.get(`/Users?filter=${filter}`)).status, 400)
  for (const path of ['/Users/%00', '/Groups/a%00']) {
    assert.equal((await scim.get(path)).status, 404)
    assert.equal((await scim.patch(path, patchOf({ op: 'remove', path: 'displayName' }))).status, 404)
    assert.equal((await scim.delete(path)).status, 404)
  }
})

test('names are compared as the database compares them', async () => {
  const { scim } = await startOrganisation()
  const group = { schemas: [GROUP_SCHEMA], displayName: 'İstanbul' }
  assert.equal((await scim.post('/Groups', group)).status, 201)
  assert.equal((await scim.post('/Groups', group)).body.scimType, 'uniqueness')
  assert.equal((await scim.post('/Users', { ...aUser('ilker'), userName: 'İlker' })).status, 201)
  const found = await scim.get(`/Users?filter=${encodeURIComponent('userName eq "İlker"')}`)
  assert.equal(found.body.totalResults, 1)
})

test('a user is created, found, changed, deactivated and deleted, and the membership follows', async () => {
  const { app, orgId, owner, scim } = await startOrganisation()
  const email = 'asha@metro.example'
  const created = await scim.post('/Users', aUser('asha'))
  assert.equal(created.status, 201, JSON.stringify(created.body))
  assert.match(created.headers.get('content-type')!, /^application\/scim\+json/)
  const { id } = created.body
  assert.deepEqual([created.body.userName, created.body.active], [email, true])
  assert.match(created.body.meta.location, new RegExp(`/scim/v2/Users/${id}$`))
  assert.equal(await roleOf(owner, orgId, email), 'viewer')
  assert.equal((await scim.get(`/Users/${id}`)).body.name.familyName, 'Rao')
  assert.equal((await findMember(owner, orgId, email)).name, 'Asha Rao')
  await scim.patch(`/Users/${id}`, patchOf({ op: 'replace', value: { displayName: 'Asha R.' } }))
  assert.equal((await findMember(owner, orgId, email)).name, 'Asha R.')
  await scim.patch(`/Users/${id}`, patchOf({ op: 'replace', value: { displayName: 'visit evil.example.com' } }))
  assert.equal((await findMember(owner, orgId, email)).name, 'Asha Rao', 'a display name with a link is not used')

  const member = await signIn(app, email)
  assert.equal((await member.get(`/orgs/${orgId}`)).status, 200)
  const deactivation = patchOf({ op: 'Replace', path: 'active', value: 'False' })
  assert.equal((await scim.patch(`/Users/${id}`, deactivation)).body.active, false)
  assert.equal((await member.get('/session')).status, 401, 'the session has ended')
  assert.equal(await roleOf(owner, orgId, email), undefined)
  assert.equal((await scim.get(`/Users/${id}`)).body.active, false)

  assert.equal((await scim.patch(`/Users/${id}`, patchOf({ op: 'replace', value: { active: true } }))).status, 200)
  assert.equal(await roleOf(owner, orgId, email), 'viewer')
  const renamed = { ...aUser('asha.rao'), externalId: 'ext-asha' }
  assert.equal((await scim.put(`/Users/${id}`, renamed)).body.emails[0].value, 'asha.rao@metro.example')
  assert.deepEqual(
    [await roleOf(owner, orgId, email), await roleOf(owner, orgId, 'asha.rao@metro.example')],
    [undefined, 'viewer'],
  )
  assert.equal((await scim.delete(`/Users/${id}`)).status, 204)
  assert.equal(await roleOf(owner, orgId, 'asha.rao@metro.example'), undefined)
  assert.equal((await scim.get(`/Users/${id}`)).status, 404)
  const { items } = (await owner.get(`/orgs/${orgId}/audit`)).body.data
  const actions = items.filter(({ details }: any) => details.how === 'scim').map(({ action }: any) => action)
  assert.deepEqual(actions, ['member.remove', 'member.email', 'member.add', 'member.remove', 'member.add'])
})

test('groups decide on the role', async () => {
  const { orgId, owner, scim, path, settings } = await startOrganisation()
  const [asha, ravi] = [await scim.post('/Users', aUser('asha')), await scim.post('/Users', aUser('ravi'))]
  const roles = async () => [
    await roleOf(owner, orgId, 'asha@metro.example'),
    await roleOf(owner, orgId, 'ravi@metro.example'),
  ]
  const group = await scim.post('/Groups', {
    schemas: [GROUP_SCHEMA],
    displayName: 'Recruiters',
    members: [{ value: asha.body.id }],
  })
  assert.equal(group.status, 201, JSON.stringify(group.body))
  assert.deepEqual(await roles(), ['recruiter', 'viewer'])
  assert.equal((await scim.get(`/Users/${asha.body.id}`)).body.groups[0].display, 'Recruiters')
  const groupPath = `/Groups/${group.body.id}`
  const added = await scim.patch(groupPath, patchOf({ op: 'add', path: 'members', value: [{ value: ravi.body.id }] }))
  assert.equal(added.status, 200, JSON.stringify(added.body))
  assert.equal(added.body.members.length, 2)
  assert.deepEqual(await roles(), ['recruiter', 'recruiter'])
  const removal = patchOf({ op: 'remove', path: `members[value eq "${asha.body.id}"]` })
  assert.equal((await scim.patch(groupPath, removal)).body.members.length, 1)
  assert.deepEqual(await roles(), ['viewer', 'recruiter'])
  const several = await scim.patch(
    groupPath,
    patchOf(
      { op: 'add', path: 'members', value: [{ value: asha.body.id }] },
      { op: 'remove', path: `members[value eq "${ravi.body.id}"]` },
      { op: 'replace', path: 'externalId', value: 'ext-group' },
    ),
  )
  assert.deepEqual(
    [several.body.externalId, several.body.members.map(({ value }: any) => value)],
    ['ext-group', [asha.body.id]],
  )
  const swapped = [
    { op: 'remove', path: 'members', value: [{ value: asha.body.id }] },
    { op: 'add', value: { displayName: 'Recruiters', members: [{ value: ravi.body.id }] } },
  ]
  assert.equal((await scim.patch(groupPath, patchOf(...swapped))).body.members.length, 1)
  assert.deepEqual(await roles(), ['viewer', 'recruiter'])
  await owner.put(path, { ...settings, role_mappings: [{ group: 'Recruiters', role: 'owner' }] })
  assert.deepEqual(await roles(), ['viewer', 'owner'], 'after a change of the mappings')
  await scim.put(groupPath, { schemas: [GROUP_SCHEMA], displayName: 'Others', members: [{ value: ravi.body.id }] })
  assert.deepEqual(await roles(), ['viewer', 'viewer'])
  assert.equal((await scim.delete(groupPath)).status, 204)
  assert.equal((await scim.get(groupPath)).status, 404)
})

test('lists are filtered and paged', async () => {
  const { scim } = await startOrganisation()
  for (const name of ['a', 'b', 'c']) assert.equal((await scim.post('/Users', aUser(name))).status, 201)
  const list = async (query: string) => (await scim.get(`/Users?${query}`)).body
  const namesOf = ({ Resources }: any) => Resources.map(({ userName }: any) => userName)
  const filter = (text: string) => list(`filter=${encodeURIComponent(text)}`)
  assert.deepEqual(namesOf(await filter('userName eq "B@metro.example"')), ['b@metro.example'])
  assert.deepEqual(namesOf(await filter('externalId eq "ext-c"')), ['c@metro.example'])
  assert.deepEqual(namesOf(await filter('externalId eq "EXT-C"')), [], 'external IDs are case-sensitive')
  assert.deepEqual(namesOf(await filter('userName sw "a" or userName sw "c"')), ['a@metro.example', 'c@metro.example'])
  assert.equal((await filter('userName eq "nobody"')).totalResults, 0)
  const all = ['a@metro.example', 'b@metro.example', 'c@metro.example']
  for (const [text, expected] of [
    ['emails[type eq "work"].value eq "B@metro.example"', ['b@metro.example']],
    ['emails.value co "c@" and active eq true', ['c@metro.example']],
    ['emails sw "a@" or active eq "False"', ['a@metro.example']],
    ['name.familyName EQ "rao" AND externalId ne "ext-b"', ['a@metro.example', 'c@metro.example']],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "a"', ['a@metro.example']],
    ['meta.created gt "2020-01-01T00:00:00Z"', all],
    ['meta.created lt "2020-01-01T00:00:00+05:30"', []],
    ['displayName pr', []],
    ['name pr', all],
  ] as const)
    assert.deepEqual(namesOf(await filter(text)), expected, text)
  const page = await list('startIndex=2&count=1')
  assert.deepEqual(
    [page.totalResults, page.startIndex, page.itemsPerPage, namesOf(page)],
    [3, 2, 1, ['b@metro.example']],
  )
  assert.equal((await list('count=0')).Resources.length, 0)
  for (const text of [
    'userName zz "x"',
    '(userName eq "x"',
    'userName',
    `userName eq "${'x'.repeat(1000)}" or active pr`,
  ]) {
    const { status, scimType } = await filter(text)
    assert.deepEqual([status, scimType], ['400', 'invalidFilter'], text)
  }
  for (const path of ['/ServiceProviderConfig', '/ResourceTypes', '/Schemas'])
    assert.equal((await scim.get(path)).status, 200, path)
})

test('errors have the format of the standard', async () => {
  const { app, orgId, owner, scim, path } = await startOrganisation()
  const errorOf = ({ status, body }: { status: number; body: any }) => {
    assert.deepEqual(body.schemas, ['urn:ietf:params:scim:api:messages:2.0:Error'])
    assert.equal(body.status, String(status))
    return [status, body.scimType]
  }
  await scim.post('/Users', aUser('asha'))
  assert.deepEqual(errorOf(await scim.post('/Users', aUser('asha'))), [409, 'uniqueness'])
  assert.deepEqual(errorOf(await scim.post('/Users', { schemas: [USER_SCHEMA] })), [400, 'invalidValue'])
  const foreign = { ...aUser('x'), userName: 'x@evil.example', emails: [{ value: 'x@evil.example' }] }
  assert.deepEqual(errorOf(await scim.post('/Users', foreign)), [400, 'invalidValue'])
  assert.deepEqual(errorOf(await scim.get('/Users/SU_UNKNOWN')), [404, undefined])
  assert.deepEqual(errorOf(await scim.patch('/Users/SU_UNKNOWN', patchOf())), [404, undefined])
  assert.deepEqual(errorOf(await scimClient(app, 'scim_wrong').get('/Users')), [401, undefined])
  const unreadable = await app.fetch('/scim/v2/Users', { headers: { authorization: 'Basic abc' } })
  assert.deepEqual(errorOf(unreadable), [401, undefined])

  const other = await startOrganisation()
  const [{ id }] = (await scim.get('/Users')).body.Resources
  assert.equal((await other.scim.get(`/Users/${id}`)).status, 404, 'of another organisation')
  assert.equal((await other.scim.delete(`/Users/${id}`)).status, 404)
  assert.equal((await other.scim.get('/Users')).body.totalResults, 0)
  assert.equal(await roleOf(owner, orgId, 'asha@metro.example'), 'viewer')
  assert.equal((await owner.delete(`${path}/scim-token`)).body.error.code, 'RECENT_SIGN_IN_REQUIRED')
  assert.equal((await (await signIn(app, owner.email)).delete(`${path}/scim-token`)).status, 200)
  assert.equal((await scim.get('/Users')).status, 401, 'after the token was revoked')
  assert.equal(await roleOf(owner, orgId, 'asha@metro.example'), 'viewer', 'members stay')
})

test('a body that is not an object is rejected', async () => {
  const { scim } = await startOrganisation()
  const { id } = (await scim.post('/Users', aUser('asha'))).body
  for (const body of [undefined, [], [aUser('ravi')]])
    for (const response of [
      await scim.post('/Users', body),
      await scim.patch(`/Users/${id}`, body),
      await scim.post('/Groups', body),
    ])
      assert.deepEqual([response.status, response.body.scimType], [400, 'invalidSyntax'], JSON.stringify(body))
})

test('hostile filters, paths and values are rejected quickly, and change nothing in the process', async () => {
  const { app, scim } = await startOrganisation()
  const { id } = (await scim.post('/Users', aUser('asha'))).body
  const group = (await scim.post('/Groups', { schemas: [GROUP_SCHEMA], displayName: 'A', members: [{ value: id }] }))
    .body
  const backslashes = `a eq "${'\\a'.repeat(60)}`
  const lineBreaks = `a eq "${'\n'.repeat(60)}`
  const groups = `a eq "b" and ${'(a eq "b" or a eq "c") and '.repeat(30)}a eq "b"`
  const pollution = '__proto__.polluted eq "yes"'
  const startedAt = performance.now()
  const errorOf = ({ status, body }: { status: number; body: any }) => [status, body.scimType]
  for (const text of [
    backslashes,
    lineBreaks,
    groups,
    pollution,
    'constructor.prototype.polluted zz "yes"',
    `a eq "b"${' and a pr'.repeat(6)}`,
  ]) {
    app.clock.advance(SECOND) // a token may make 50 requests per second
    assert.deepEqual(errorOf(await scim.get(`/Users?filter=${encodeURIComponent(text)}`)), [400, 'invalidFilter'], text)
    for (const operation of [
      { op: 'replace', path: `emails[${text}].value`, value: 'x' },
      { op: 'remove', path: `emails[${text}]` },
      { op: 'add', value: { [`emails[${text}].value`]: 'x' } },
    ])
      assert.deepEqual(errorOf(await scim.patch(`/Users/${id}`, patchOf(operation))), [400, 'invalidPath'], text)
    for (const value of [[{ value: text }], [{ [text]: 'x' }], { value: [text] }, [{ value: 'x' }, { value: text }]]) {
      const removal = (path: string) => patchOf({ op: 'remove', path, value })
      assert.equal((await scim.patch(`/Users/${id}`, removal('emails'))).status, 400, JSON.stringify(value))
      await scim.patch(`/Groups/${group.id}`, removal('members'))
    }
  }
  const filter = encodeURIComponent('constructor.prototype.polluted eq "yes"')
  assert.equal((await scim.get(`/Users?filter=${filter}`)).body.totalResults, 0)
  assert.ok(!('polluted' in {}))
  const tooMany = Array.from({ length: 1001 }, (_, index) => ({ value: `SU_${index}` }))
  const emails = Array.from({ length: 101 }, () => ({
    op: 'add',
    path: 'emails',
    value: [{ value: 'x@metro.example' }],
  }))
  assert.deepEqual(errorOf(await scim.patch(`/Users/${id}`, patchOf(...emails))), [400, 'invalidValue'])
  for (const path of ['emails', undefined]) {
    const values = Array.from({ length: 101 }, (_, index) => ({ value: `asha${index}@metro.example` }))
    const operation = { op: 'add', path, value: path ? values : { emails: values } }
    const { status, body } = await scim.patch(`/Users/${id}`, patchOf(operation))
    assert.equal(status, 400)
    assert.match(body.detail, /at most 100 operations, and 100 values in total/)
  }
  const members = { schemas: [GROUP_SCHEMA], displayName: 'A', members: tooMany }
  assert.deepEqual(errorOf(await scim.put(`/Groups/${group.id}`, members)), [400, 'invalidValue'])
  for (const op of ['add', 'remove'])
    for (const operation of [
      { op, path: 'members', value: tooMany },
      { op, value: { members: tooMany } },
    ])
      assert.equal((await scim.patch(`/Groups/${group.id}`, patchOf(operation))).status, 400)
  assert.ok(performance.now() - startedAt < 20_000)
  assert.equal((await scim.get(`/Groups/${group.id}`)).body.members.length, 1)
  const renamed = patchOf({
    op: 'replace',
    value: { displayName: 'B', members: [{ value: id }, { value: 'SU_UNKNOWN' }] },
  })
  const { displayName, members: kept } = (await scim.patch(`/Groups/${group.id}`, renamed)).body
  assert.deepEqual([displayName, kept.length], ['B', 1])
  const removal = patchOf({ op: 'Remove', path: 'members', value: [{ value: id }, { value: 'SU_UNKNOWN' }] })
  assert.equal((await scim.patch(`/Groups/${group.id}`, removal)).body.members?.length ?? 0, 0)
})

test('changes that wait for each other leave database connections for other organisations', async () => {
  const { app, orgId, scim } = await startOrganisation()
  const other = await app.fixtures.createOrg()
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
  const { promise: isLocked, resolve: setLocked } = Promise.withResolvers<void>()
  const blocking = app.context.db.transaction(async (tx) => {
    await lockMembers(tx, orgId)
    setLocked()
    await isReleased
  })
  await isLocked
  const changes = Array.from({ length: 40 }, (_, index) => scim.post('/Users', aUser(`user${index}`)))
  const responses: Awaited<(typeof changes)[number]>[] = []
  for (const change of changes) void change.then((response) => responses.push(response))
  await until(async () => responses.length === 19) // all have arrived: one runs and 20 wait
  for (const { status, headers } of responses) assert.deepEqual([status, headers.get('retry-after')], [429, '1'])
  assert.equal((await app.as(other.key).get('/credits')).status, 200)
  release()
  await blocking
  const statuses = (await Promise.all(changes)).map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 21)
  assert.equal(statuses.filter((status) => status === 429).length, 19)
  assert.equal((await scim.post('/Users', aUser('later'))).status, 201)
})

test('a provider has at most 20,000 users and 1,000 groups', async () => {
  const { app, orgId, scim } = await startOrganisation()
  const { id } = (await scim.post('/Users', aUser('asha'))).body
  const { id: groupId } = (await scim.post('/Groups', { schemas: [GROUP_SCHEMA], displayName: 'A' })).body
  await sql`
    insert into scim_users (user_id, provider_id, org_id, user_name, email, active, created_at, updated_at)
    select 'SU_' || n, provider_id, org_id, 'user' || n, 'user' || n || '@metro.example', true, created_at, updated_at
    from scim_users, generate_series(1, 19999) as n where user_id = ${id}`.execute(app.context.db.queries)
  await sql`
    insert into scim_groups (group_id, provider_id, org_id, display_name, created_at, updated_at)
    select ${`SG_${orgId}`} || n, provider_id, org_id, 'Group ' || n, created_at, updated_at
    from scim_groups, generate_series(1, 999) as n where group_id = ${groupId}`.execute(app.context.db.queries)
  for (const response of [
    await scim.post('/Users', aUser('ravi')),
    await scim.post('/Groups', { schemas: [GROUP_SCHEMA], displayName: 'B' }),
  ])
    assert.deepEqual([response.status, response.body.scimType], [400, 'tooMany'])
  const { body } = await scim.get('/Users?startIndex=19990&count=100')
  assert.deepEqual([body.totalResults, body.itemsPerPage], [20_000, 11])
  assert.equal((await scim.delete(`/Users/${id}`)).status, 204)
  assert.equal((await scim.post('/Users', aUser('ravi'))).status, 201)
})

test('attributes are limited, and unknown ones are ignored', async () => {
  const { scim } = await startOrganisation()
  const user = { ...aUser('asha'), phoneNumbers: Array.from({ length: 5000 }, (_, index) => ({ value: `${index}` })) }
  const { status, body } = await scim.post('/Users', user)
  assert.deepEqual([status, body.phoneNumbers, body.name], [201, undefined, { givenName: 'Asha', familyName: 'Rao' }])
  const emails = Array.from({ length: 101 }, (_, index) => ({ value: `a${index}@metro.example` }))
  const addEmails = (values: object[]) => ({ op: 'add', path: 'emails', value: values })
  for (const response of [
    await scim.post('/Users', { ...aUser('ravi'), emails }),
    await scim.post('/Users', { ...aUser('ravi'), USERNAME: 'x' }),
    await scim.patch(`/Users/${body.id}`, patchOf(addEmails(emails.slice(0, 60)), addEmails(emails.slice(0, 60)))),
    await scim.post('/Groups', { schemas: [GROUP_SCHEMA], displayName: 'A', members: 'all' }),
    await scim.post('/Groups', { schemas: [GROUP_SCHEMA], displayName: 'A', members: [], Members: [] }),
  ])
    assert.equal(response.status, 400)
  const withOtherCase = { schemas: [GROUP_SCHEMA], displayname: 'A', MEMBERS: [{ value: body.id }] }
  const group = (await scim.post('/Groups', withOtherCase)).body
  assert.deepEqual([group.displayName, group.members.length], ['A', 1])
  const [listed] = (await scim.get('/Users')).body.Resources
  assert.deepEqual(listed.groups, [{ value: group.id, display: 'A' }])
  const location = listed.meta.location
  assert.equal(location, `/scim/v2/Users/${body.id}`)
})

test('a deactivation succeeds although the domain is no longer allowed, and a reactivation does not', async () => {
  const { orgId, owner, scim, path, settings } = await startOrganisation()
  const { id } = (await scim.post('/Users', aUser('asha'))).body
  assert.equal((await owner.put(path, { ...settings, allowed_domains: ['new.example'] })).status, 200)
  assert.equal(
    (await scim.patch(`/Users/${id}`, patchOf({ op: 'add', path: 'displayName', value: 'Asha' }))).status,
    200,
  )
  const foreign = { ...aUser('x'), emails: [{ value: 'x@evil.example' }] }
  assert.equal((await scim.put(`/Users/${id}`, foreign)).status, 400)
  const deactivated = await scim.put(`/Users/${id}`, { ...foreign, active: false })
  assert.deepEqual([deactivated.status, deactivated.body.emails[0].value], [200, 'asha@metro.example'])
  assert.equal(await roleOf(owner, orgId, 'asha@metro.example'), undefined)
  const reactivation = patchOf({ op: 'replace', path: 'active', value: true })
  assert.equal((await scim.patch(`/Users/${id}`, reactivation)).status, 400)
  assert.equal(await roleOf(owner, orgId, 'asha@metro.example'), undefined)
})

test('a user who gets the address of another member loses the previous membership', async () => {
  const { orgId, owner, scim } = await startOrganisation()
  const { id } = (await scim.post('/Users', aUser('asha'))).body
  assert.equal((await scim.put(`/Users/${id}`, { ...aUser('x'), emails: [{ value: owner.email }] })).status, 200)
  assert.equal(await roleOf(owner, orgId, 'asha@metro.example'), undefined)
  assert.equal(await roleOf(owner, orgId, owner.email), 'owner')
})

test('another client of the provider ends the access of the token, and removes users and groups', async () => {
  const { app, orgId, owner, path, settings, scim } = await startOrganisation()
  await scim.post('/Users', aUser('asha'))
  await scim.post('/Groups', { schemas: [GROUP_SCHEMA], displayName: 'A' })
  const { body } = await owner.put(path, { ...settings, client_id: 'another' })
  assert.deepEqual([body.data.provider.client_id, body.data.scim_token], ['another', null])
  assert.equal((await scim.get('/Users')).status, 401)
  const { token } = (await owner.post(`${path}/scim-token`)).body.data
  const newScim = scimClient(app, token)
  for (const list of ['/Users', '/Groups']) assert.equal((await newScim.get(list)).body.totalResults, 0)
  assert.equal(await roleOf(owner, orgId, 'asha@metro.example'), 'viewer', 'members stay')
})
