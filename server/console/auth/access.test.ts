import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { CONSOLE_API, type ConsoleUser, signIn, signInMember } from '../../../test/support/console.ts'
import type { Scope } from '../../access/scopes.ts'
import { SECOND } from '../../platform/clock.ts'
import { guardConsoleRoutes } from './guards.ts'
import type { ConsoleRole } from './roles.ts'

interface Route {
  method: string
  url: string
  role: ConsoleRole | 'public' | 'signed_in' | undefined
  scope: Scope | null | undefined
  membersOnly: boolean
}

/** Starts a server, and returns it with all its console routes. */
const startSharedApp = oncePerFile(async (t) => {
  const routes: Route[] = []
  const app = await startApp(t, {
    extend: (server) =>
      server.addHook('onRoute', ({ method, url, config }) => {
        if (!url.startsWith(`${CONSOLE_API}/`)) return
        const { role, scope, membersOnly = false } = config ?? {}
        for (const each of [method].flat()) routes.push({ method: each, url, role, scope, membersOnly })
      }),
  })
  return { app, routes }
})

/** Returns a path of the route in the organisation, with IDs that do not exist. */
function pathOf({ url }: Route, orgId: string) {
  return url
    .slice(CONSOLE_API.length)
    .replace(':org/', `${orgId}/`)
    .replace(/:org$/, orgId)
    .replace(':mode', 'test')
    .replace(/:[a-z_]+/g, 'nothing')
}

/** Browser headers of a request from another origin. */
const CROSS_ORIGIN_HEADERS: Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { 'sec-fetch-site': 'cross-site' },
]

const isWrite = ({ method }: Route) => method !== 'GET' && method !== 'HEAD'
const isPublic = ({ role }: Route) => role === 'public'
const isOrgRoute = ({ url }: Route) => url.startsWith(`${CONSOLE_API}/orgs/:org`)

test('every console route rejects requests without a session, without access to the organisation or without the CSRF token', async () => {
  const { app, routes } = await startSharedApp()
  assert.ok(routes.length > 100, `${routes.length} routes`)
  assert.ok(routes.some(({ url }) => url === `${CONSOLE_API}/orgs/:org/:mode/workflows`))
  const { orgId } = await app.fixtures.createOrg()
  const { orgId: otherOrgId } = await app.fixtures.createOrg('Another one')
  const outsider = await signInMember(app, otherOrgId, 'owner')
  const owner = await signInMember(app, orgId, 'owner')
  const sessionHeaders = { cookie: owner.cookie, 'content-type': 'application/json' }

  for (const route of routes) {
    const name = `${route.method} ${route.url}`
    const path = pathOf(route, orgId)
    const body = isWrite(route) ? '{}' : undefined
    const init = { method: route.method, ...(body ? { body } : {}) }
    app.clock.advance(SECOND)

    if (!isPublic(route)) {
      const anonymousResponse = await app.fetch(CONSOLE_API + path, {
        ...init,
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(anonymousResponse.status, 401, `${name} without a session`)
      const unknownCookie = `attestry=${'A'.repeat(43)}`
      const forgedCookieResponse = await app.fetch(CONSOLE_API + path, {
        ...init,
        headers: { ...sessionHeaders, cookie: unknownCookie },
      })
      assert.equal(forgedCookieResponse.status, 401, `${name} with an unknown session`)
    }
    if (isOrgRoute(route)) {
      const { status } = await outsider.call(route.method, path, isWrite(route) ? {} : undefined)
      assert.equal(status, 404, `${name} with another organisation's session`)
      if (route.url.includes(':mode')) {
        const { status } = await owner.call(
          route.method,
          path.replace('/test', '/both'),
          isWrite(route) ? {} : undefined,
        )
        assert.equal(status, 404, `${name} in a mode that does not exist`)
      }
    }
    if (isWrite(route) && !isPublic(route)) {
      for (const tokenHeader of [{}, { 'x-csrf-token': outsider.csrf }]) {
        const response = await app.fetch(CONSOLE_API + path, {
          ...init,
          headers: { ...sessionHeaders, ...tokenHeader },
        })
        assert.equal(response.status, 403, `${name} with the token ${JSON.stringify(tokenHeader)}`)
        assert.match(response.body.error.message, /x-csrf-token/, name)
      }
    }
    if (isWrite(route)) {
      for (const headers of CROSS_ORIGIN_HEADERS) {
        const { status } = await owner.call(route.method, path, {}, headers)
        assert.equal(status, 403, `${name} from ${JSON.stringify(headers)}`)
      }
    }
  }
})

/** The permissions of each role, written independently of the implementation. */
const mayCall: Record<Exclude<ConsoleRole, 'operator'>, (route: Route) => boolean> = {
  viewer: ({ role, scope }) =>
    role === 'viewer' || scope === null || (scope?.endsWith(':read') === true && scope !== 'people:read'),
  recruiter: (route) =>
    mayCall.viewer(route) ||
    route.role === 'recruiter' ||
    ['workflows:write', 'mandates:write', 'campaigns:write', 'skills:request'].includes(route.scope ?? ''),
  owner: ({ role, scope }) => role === 'owner' || role === 'recruiter' || role === 'viewer' || scope !== undefined,
}

test('every console route allows exactly the roles that it should', async () => {
  const { app, routes } = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const members = {
    viewer: await signInMember(app, orgId, 'viewer'),
    recruiter: await signInMember(app, orgId, 'recruiter'),
    owner: await signInMember(app, orgId, 'owner'),
  }
  const operator = await signIn(app)

  for (const route of routes) {
    if (route.role === 'public' || route.role === 'signed_in') continue
    const path = pathOf(route, orgId)
    const call = (user: ConsoleUser) => {
      // Within the rate limit, but so that all calls are made soon after the sign-in: responses to HEAD have no code that tells why.
      app.clock.advance(SECOND / 5)
      return user.call(route.method, path, isWrite(route) ? {} : undefined)
    }
    for (const [role, user] of Object.entries(members)) {
      const { status, body } = await call(user)
      const name = `${route.method} ${route.url} as ${role}`
      assert.equal(isForbidden(status, body), !mayCall[role as keyof typeof mayCall](route), `${name}: ${status}`)
      assert.notEqual(status, 401, name)
      assert.ok(status < 500, `${name}: ${status}`)
    }
    const { status, body } = await call(operator)
    const name = `${route.method} ${route.url} as the operator: ${status}`
    assert.equal(isForbidden(status, body), route.membersOnly, name)
    assert.ok(status !== 401 && status < 500, name)
  }
})

/** Returns whether the role does not allow a request. The role is checked before the time of the sign-in, which passes in the test. */
function isForbidden(status: number, body: { error?: { code: string } } | undefined): boolean {
  return status === 403 && body?.error?.code !== 'RECENT_SIGN_IN_REQUIRED'
}

test('the console page allows neither inline code nor other origins', async () => {
  const { app } = await startSharedApp()
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
  const missingPathResponse = await fetch('/console/api/nothing')
  assert.equal(missingPathResponse.status, 404)
  assert.equal(missingPathResponse.body.error.code, 'NOT_FOUND')
})

test('role changes and removals take effect on the next request', async () => {
  const { app } = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const viewer = await signInMember(app, orgId, 'viewer')
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

test('a route without a role, or a public form without a visitor limit, cannot be registered', () => {
  const app = fastify()
  guardConsoleRoutes(app as never, {} as never)
  assert.throws(() => app.get('/samples', async () => ''), /GET \/samples must declare a role or a scope/)
  const config = { role: 'public' } as const
  assert.throws(() => app.post('/samples', { config }, async () => ''), /POST \/samples must declare a visitor limit/)
  app.get('/samples', { config }, async () => '')
})
