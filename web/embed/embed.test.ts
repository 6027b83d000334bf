import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { FrameLocator, Page } from 'playwright-core'
import { changeOrigins } from '../../server/embeds/allowed-origins.ts'
import { HOUR } from '../../server/platform/clock.ts'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage, type PageOptions } from '../../test/browser/browser.ts'
import { saveScreenshot } from '../../test/browser/screenshots.ts'
import { readBlocks } from '../../test/contract/code-blocks.ts'
import { startApp } from '../../test/support/app.ts'
import { inviteCandidate } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { runClock } from '../../test/support/clock.ts'
import { passAssessment } from '../../test/support/issued-credentials.ts'
import { aTestNumberCandidate, createCampaignPartner, passTime } from '../../test/support/partners.ts'
import { until } from '../../test/support/until.ts'
import { verificationCalls } from '../../test/support/verification.ts'

/** The page of the guide for partners. */
const GUIDE_PAGE = readBlocks('docs/guides/embed-pages.md', ['html'])[0]!.text

const getApp = oncePerFile(async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  return app
})

/** Starts a website that embeds a page. Its host differs from that of the server, so that the frame is on another site. */
async function startWebsite(t: TestContext) {
  const app = await getApp()
  let src = ''
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(GUIDE_PAGE.replace('https://attestry.example.com', app.url).replace('URL_OF_THE_SESSION', src))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    app,
    origin,
    allow: (orgId: string, origins = [origin]) =>
      app.context.db.transaction((tx) => changeOrigins(tx, app.clock, { orgId, mode: 'test' }, origins)),
    /** Opens the website with this URL in its frame, and records the events of the element. */
    async visit(url: string, options: PageOptions = {}) {
      src = url
      const page = await newPage(t, { width: 600, ...options })
      await page.addInitScript(`
        window.embedEvents = []
        for (const type of ['ready', 'resize', 'completed', 'failed'])
          addEventListener(type, ({ target, detail }) => target.localName === 'attestry-embed' && embedEvents.push({ type, ...detail }), true)`)
      await page.goto(origin)
      return { page, frame: page.frameLocator('attestry-embed iframe'), waitForEvent: waitForEvent(page) }
    },
  }
}

function waitForEvent(page: Page) {
  return async (type: string): Promise<any> => {
    const events = async () => (await page.evaluate('window.embedEvents')) as { type: string }[]
    await until(async () => (await events()).some((event) => event.type === type))
    return (await events()).findLast((event) => event.type === type)
  }
}

async function createSession(
  post: (path: string, body: object) => Promise<{ status: number; body: any }>,
  path: string,
  origin: string,
): Promise<string> {
  const { status, body } = await post(path, { origin })
  assert.equal(status, 201, JSON.stringify(body))
  return body.data.url
}

/** Asserts that the frame has the height of its content. */
async function assertFits(page: Page, frame: FrameLocator) {
  await until(async () => {
    const frameHeight = (await page.locator('iframe').boundingBox())!.height
    const content = (await frame.locator('#root').boundingBox())!.height
    return Math.abs(frameHeight - Math.max(120, content)) <= 1
  })
}

test('a candidate answers in a frame of another website, which learns when the conversation has ended', async (t) => {
  const { app, origin, allow, visit } = await startWebsite(t)
  const { partner, campaign_id, getCandidacy } = await inviteCandidate(app)
  await allow(partner.orgId)
  const { candidate_id } = await getCandidacy()
  const path = `/campaigns/${campaign_id}/candidates/${candidate_id}/embed-sessions`
  const url = await createSession(partner.post, path, origin)
  const { page, frame, waitForEvent } = await visit(url)
  await waitForEvent('ready')
  assert.equal(await page.locator('iframe').getAttribute('title'), 'Your application')
  await frame
    .getByText(/Asha Verma/)
    .first()
    .waitFor()
  await assertFits(page, frame)
  const content = page.frames().at(-1)!
  assert.equal(new URL(content.url()).hash, '', 'the token is removed from the address')
  assert.deepEqual(await page.context().cookies(), [])
  await saveScreenshot(page, 'embed-candidate')
  await assertAccessible(page)
  const globals = await page.evaluate(`(() => {
    const bare = document.createElement('iframe'); document.body.append(bare)
    const known = new Set(Object.getOwnPropertyNames(bare.contentWindow)); bare.remove()
    return Object.getOwnPropertyNames(window).filter((name) => !known.has(name) && name.length <= 2 && Number.isNaN(Number(name)))
  })()`)
  assert.deepEqual(globals, [], 'the script declares no global names')

  await content.evaluate('location.reload()')
  await frame.getByRole('button', { name: 'Yes', exact: true }).click()
  await until(async () => (await getCandidacy()).state.point.at !== 'consent')
  await frame.getByRole('button', { name: /stop/i }).click()
  await frame.getByRole('button', { name: 'Yes', exact: true }).last().click()
  const completed = await waitForEvent('completed')
  assert.equal(completed.status, 'stopped')
  await page.getByText('Thank you (stopped).').waitFor()
  assert.equal((await getCandidacy()).reason, 'stopped')
  await assertFits(page, frame)
})

test('an answer that was not sent before the page expired stays visible, and the website learns of the expiry', async (t) => {
  const { app, origin, allow, visit } = await startWebsite(t)
  const { partner, campaign_id, getCandidacy } = await inviteCandidate(app)
  await allow(partner.orgId)
  const { candidate_id } = await getCandidacy()
  const path = `/campaigns/${campaign_id}/candidates/${candidate_id}/embed-sessions`
  const { page, frame, waitForEvent } = await visit(await createSession(partner.post, path, origin))
  await waitForEvent('ready')
  app.clock.advance(2 * HOUR)
  await frame.getByRole('button', { name: 'Yes', exact: true }).click()
  assert.equal((await waitForEvent('failed')).code, 'LINK_EXPIRED')
  await frame.getByText('Text that you have not sent is not saved.').waitFor()
  assert.match((await frame.locator('.message.you').textContent())!, /Yes/)
  assert.equal(await frame.getByRole('button').count(), 0)
  await assertAccessible(page)
  assert.equal((await getCandidacy()).state.point.at, 'consent')
})

test('a recruiter reads the report of a result in a frame', async (t) => {
  const { app, origin, allow, visit } = await startWebsite(t)
  const partner = await createCampaignPartner(app)
  await allow(partner.orgId, ['http://localhost:*'])
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [aTestNumberCandidate(1)])
  await passTime(app, 8000)
  const { body } = await partner.get('/results')
  const path = `/results/${body.data.items[0].result_id}/embed-sessions`
  const { page, frame, waitForEvent } = await visit(await createSession(partner.post, path, origin), { width: 900 })
  await waitForEvent('ready')
  await frame.getByRole('heading', { name: 'Report: Person 1', level: 1 }).waitFor()
  await frame.getByText(/Qualified\. 3 of 3 skills verified/).waitFor()
  for (const [width, colorScheme] of [
    [900, 'light'],
    [320, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 1700 })
    await page.emulateMedia({ colorScheme })
    await assertFits(page, frame)
    await saveScreenshot(page, `embed-report-${width}-${colorScheme}`)
    await assertAccessible(page)
    assert.ok(await page.frames().at(-1)!.evaluate('document.documentElement.scrollWidth <= innerWidth'))
  }
  const { height } = await waitForEvent('resize')
  assert.ok(height > 300)
})

test('a student verifies skills in a frame, in the language of the website', async (t) => {
  const { app, origin, allow, visit } = await startWebsite(t)
  const { orgId } = await app.fixtures.createOrg()
  await allow(orgId)
  const key = await app.fixtures.createSessionKey(orgId, 'test')
  const calls = verificationCalls(app, orgId, key, 'test')
  const session = await calls.openPreparedSession('human')
  const { body } = await calls.call('POST', `/verification/${session.id}/embed-sessions`, {
    key,
    body: { origin, language: 'hi' },
  })
  const { page, frame, waitForEvent } = await visit(body.data.url)
  await waitForEvent('ready')
  await frame.getByRole('heading', { level: 1 }).first().waitFor()
  assert.equal(await page.frames().at(-1)!.evaluate('document.documentElement.lang'), 'hi')
  await assertFits(page, frame)
  await saveScreenshot(page, 'embed-student')
  await assertAccessible(page)
  await calls.storeReviewer(session)
  await page.frames().at(-1)!.evaluate('location.reload()')
  const completed = await waitForEvent('completed')
  assert.equal(completed.status, 'pending_review')

  app.clock.advance(2 * HOUR)
  await page.frames().at(-1)!.evaluate('location.reload()')
  assert.equal((await waitForEvent('failed')).code, 'SESSION_NOT_FOUND')
  await frame.getByRole('alert').waitFor()
})

test('a student with credentials opens the page that manages them in a new tab', async (t) => {
  const { app, origin, allow, visit } = await startWebsite(t)
  const { orgId } = await app.fixtures.createOrg()
  await allow(orgId)
  const key = await app.fixtures.createSessionKey(orgId, 'test')
  const calls = verificationCalls(app, orgId, key, 'test')
  const session = await passAssessment(calls)
  const { body } = await calls.call('POST', `/verification/${session.id}/embed-sessions`, { key, body: { origin } })
  const { page, frame } = await visit(body.data.url)
  await frame.getByRole('button', { name: 'Create my credentials' }).click()
  await frame.getByRole('heading', { name: 'Your credentials are ready.' }).waitFor()
  await page.frames().at(-1)!.evaluate('location.reload()')
  const opened = page.waitForEvent('popup')
  await frame.getByRole('link', { name: 'Manage my credentials' }).click()
  await (await opened).getByRole('textbox').waitFor()
})

test('the browser blocks the frame on a website that is not the origin of the session, and the element explains it', async (t) => {
  const { app, origin, allow, visit } = await startWebsite(t)
  const { partner, getCandidacy } = await inviteCandidate(app)
  const other = 'http://localhost:1'
  await allow(partner.orgId, [other, origin])
  const { result_id } = await getCandidacy()
  const url = await createSession(partner.post, `/results/${result_id}/embed-sessions`, other)
  const { page, waitForEvent } = await visit(url, { allowPolicyViolations: true })
  assert.equal((await waitForEvent('failed')).code, 'BLOCKED')
  await page.getByRole('alert').getByText('This content could not be shown.').waitFor()
  assert.equal(await page.locator('iframe').count(), 0)
  await assertAccessible(page)
})

test('a URL that was opened or has ended shows an error in the frame, and messages of other windows are ignored', async (t) => {
  const { app, origin, allow, visit } = await startWebsite(t)
  const { partner, getCandidacy } = await inviteCandidate(app)
  await allow(partner.orgId)
  const { result_id } = await getCandidacy()
  const url = await createSession(partner.post, `/results/${result_id}/embed-sessions`, origin)
  const first = await visit(url)
  await first.waitForEvent('ready')
  await first.page.evaluate(`postMessage({ source: 'attestry', type: 'completed', status: 'forged' }, '*')`)
  await first.page.evaluate('new Promise((done) => setTimeout(done, 50))')
  assert.ok(!JSON.stringify(await first.page.evaluate('window.embedEvents')).includes('forged'))

  const second = await visit(url)
  assert.equal((await second.waitForEvent('failed')).code, 'LINK_EXPIRED')
  await second.frame.getByRole('alert').getByText('This page has expired.').waitFor()
  await saveScreenshot(second.page, 'embed-expired')
  await assertAccessible(second.page)

  app.clock.advance(2 * HOUR)
  await first.page.frames().at(-1)!.evaluate('location.reload()')
  assert.equal((await first.waitForEvent('failed')).code, 'LINK_EXPIRED')

  const direct = await newPage(t)
  await direct.goto(await createSession(partner.post, `/results/${result_id}/embed-sessions`, origin))
  await direct.getByText('This page can only be shown on the website of the organisation.').waitFor()
  assert.equal(new URL(direct.url()).hash, '', 'the token is removed from the address')
})
