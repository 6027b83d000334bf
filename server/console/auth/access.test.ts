import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { CONSOLE, type ConsoleUser, memberOf, signIn } from '../../../test/support/console.ts'
import type { Scope } from '../../access/scopes.ts'
import { SECOND } from '../../platform/clock.ts'
import type { Role } from './roles.ts'

interface Route {
  method: string
  url: string
  role: Role | 'anybody' | 'signed_in' | undefined
  scope: Scope | null | undefined
}

/** Every route of the console that the server has. */
const routes: Route[] = []
const app = await startApp({ after } as unknown as TestContext, {
  extend: (server) =>
    server.addHook('onRoute', ({ method, url, config }) => {
      if (!url.startsWith(`${CONSOLE}/`)) return
      for (const each of [method].flat()) routes.push({ method: each, url, role: config?.role, scope: config?.scope })
    }),
})

/** An address of the route, in the organisation; what else it names does not exist. */
function addressOf({ url }: Route, orgId: string) {
  return url
    .slice(CONSOLE.length)
    .replace(':org/', `${orgId}/`)
    .replace(/:org$/, orgId)
    .replace(':mode', 'test')
    .replace(/:[a-z_]+/g, 'nothing')
}

/** What a browser says of a page that is not ours. */
const FOREIGN: Record<string, string>[] = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]

const isWrite = ({ method }: Route) => method !== 'GET' && method !== 'HEAD'
const isOpen = ({ role }: Route) => role === 'anybody'
const isOfOrganisation = ({ url }: Route) => url.startsWith(`${CONSOLE}/orgs/:org`)

test('every route of the console: without a session, with another organisation’s, without the token against forgery', async () => {
  assert.ok(routes.length > 100, `${routes.length} routes`)
  assert.ok(routes.some(({ url }) => url === `${CONSOLE}/orgs/:org/:mode/workflows`))
  const { orgId } = await app.given.org()
  const { orgId: other } = await app.given.org('Another one')
  const stranger = await memberOf(app, other, 'owner')
  const owner = await memberOf(app, orgId, 'owner')
  const forger = { cookie: owner.cookie, 'content-type': 'application/json' }

  for (const route of routes) {
    const name = `${route.method} ${route.url}`
    const path = addressOf(route, orgId)
    const body = isWrite(route) ? '{}' : undefined
    const init = { method: route.method, ...(body ? { body } : {}) }
    app.clock.advance(SECOND)

    if (!isOpen(route)) {
      const bare = await app.fetch(CONSOLE + path, { ...init, headers: { 'content-type': 'application/json' } })
      assert.equal(bare.status, 401, `${name} without a session`)
      const made = `attestry=${'A'.repeat(43)}`
      const forged = await app.fetch(CONSOLE + path, { ...init, headers: { ...forger, cookie: made } })
      assert.equal(forged.status, 401, `${name} with a made-up session`)
    }
    if (isOfOrganisation(route)) {
      const { status } = await stranger.call(route.method, path, isWrite(route) ? {} : undefined)
      assert.equal(status, 404, `${name} with another organisation's session`)
      if (route.url.includes(':mode')) {
        const { status } = await owner.call(
          route.method,
          path.replace('/test', '/both'),
          isWrite(route) ? {} : undefined,
        )
        assert.equal(status, 404, `${name} in a mode that there is not`)
      }
    }
    if (isWrite(route) && !isOpen(route)) {
      for (const token of [{}, { 'x-csrf-token': stranger.csrf }]) {
        const answer = await app.fetch(CONSOLE + path, { ...init, headers: { ...forger, ...token } })
        assert.equal(answer.status, 403, `${name} with the token ${JSON.stringify(token)}`)
        assert.match(answer.body.error.message, /x-csrf-token/, name)
      }
    }
    if (isWrite(route)) {
      for (const from of FOREIGN) {
        const { status } = await owner.call(route.method, path, {}, from)
        assert.equal(status, 403, `${name} from ${JSON.stringify(from)}`)
      }
    }
  }
})

/** Who may do what, written down apart from the code that decides it. */
const may: Record<Exclude<Role, 'operator'>, (route: Route) => boolean> = {
  viewer: ({ role, scope }) => role === 'viewer' || scope === null || scope?.endsWith(':read') === true,
  recruiter: (route) =>
    may.viewer(route) ||
    route.role === 'recruiter' ||
    ['workflows:write', 'mandates:write', 'campaigns:write', 'skills:request'].includes(route.scope ?? ''),
  owner: ({ role, scope }) => role === 'owner' || role === 'recruiter' || role === 'viewer' || scope !== undefined,
}

test('every route of the console, with each role', async () => {
  const { orgId } = await app.given.org()
  const people = {
    viewer: await memberOf(app, orgId, 'viewer'),
    recruiter: await memberOf(app, orgId, 'recruiter'),
    owner: await memberOf(app, orgId, 'owner'),
  }
  const operator = await signIn(app)

  for (const route of routes) {
    if (route.role === 'anybody' || route.role === 'signed_in') continue
    const path = addressOf(route, orgId)
    const call = (user: ConsoleUser) => {
      app.clock.advance(SECOND)
      return user.call(route.method, path, isWrite(route) ? {} : undefined)
    }
    for (const [role, user] of Object.entries(people)) {
      const { status } = await call(user)
      const name = `${route.method} ${route.url} as ${role}`
      if (may[role as keyof typeof may](route)) assert.notEqual(status, 403, name)
      else assert.equal(status, 403, name)
      assert.notEqual(status, 401, name)
      assert.ok(status < 500, `${name}: ${status}`)
    }
    const { status } = await call(operator)
    assert.ok(![401, 403].includes(status) && status < 500, `${route.method} ${route.url} as the operator: ${status}`)
  }
})

test('the page of the console allows nothing inline and nothing from elsewhere', async () => {
  const { fetch } = app
  for (const path of ['/console', '/console/sign-in', '/console/campaigns/CP_X']) {
    const { status, headers } = await fetch(path)
    assert.equal(status, 200, path)
    const policy = headers.get('content-security-policy')!
    assert.match(policy, /default-src 'none'/)
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('set-cookie'), null)
  }
  const missing = await fetch('/console/api/nothing')
  assert.equal(missing.status, 404)
  assert.equal(missing.body.error.code, 'NOT_FOUND')
})

test('what was taken from somebody is gone at their next call', async () => {
  const { orgId } = await app.given.org()
  const owner = await memberOf(app, orgId, 'owner')
  const viewer = await memberOf(app, orgId, 'viewer')
  const { items } = (await owner.get(`/orgs/${orgId}/members`)).body.data
  const { member_id } = items.find((member: any) => member.email === viewer.email)

  assert.equal((await viewer.post(`/orgs/${orgId}/test/workflows`, { name: 'One' })).status, 403)
  assert.equal((await owner.put(`/orgs/${orgId}/members/${member_id}`, { role: 'recruiter' })).status, 200)
  assert.equal((await viewer.post(`/orgs/${orgId}/test/workflows`, { name: 'One' })).status, 201)
  assert.equal((await owner.delete(`/orgs/${orgId}/members/${member_id}`)).status, 200)
  assert.equal((await viewer.get('/session')).status, 401)

  const self = items.find((member: any) => member.email === owner.email)
  assert.equal((await owner.put(`/orgs/${orgId}/members/${self.member_id}`, { role: 'viewer' })).status, 409)
  assert.equal((await owner.delete(`/orgs/${orgId}/members/${self.member_id}`)).status, 409)
})
