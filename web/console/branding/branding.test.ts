import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from '../../../test/browser/axe.ts'
import { newPage } from '../../../test/browser/browser.ts'
import { checkSizes } from '../../../test/browser/check-sizes.ts'
import { getButton, getNavLink, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { saveScreenshot } from '../../../test/browser/screenshots.ts'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { pngImage } from '../../../test/support/images.ts'
import { until } from '../../../test/support/until.ts'
import { verificationCalls } from '../../../test/support/verification.ts'
import { contactTestCandidate } from '../../../test/support/your-data.ts'

const MAX_LAYOUT_SHIFT = 0.02
const MAX_FIRST_VISIT_BYTES = 20 * 1024
const PHONE = { width: 360, height: 740, hasTouch: true, isMobile: true }
const RECORD_SHIFTS = `
  window.shiftSum = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shiftSum += value
  }).observe({ type: 'layout-shift', buffered: true })`

const startSharedApp = oncePerFile(async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  return app
})

/** Opens a page on a phone in both themes; checks the logo, the icon, the accessibility, the width and that nothing moves. */
async function checkBrandedPage(t: TestContext, url: string, name: string, isReady: (page: Page) => Promise<unknown>) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await newPage(t, { ...PHONE, colorScheme })
    await page.addInitScript(RECORD_SHIFTS)
    await page.goto(url)
    await isReady(page)
    const logo = page.locator('img.brand-logo')
    await until(() => page.evaluate<boolean>(`document.querySelector('img.brand-logo')?.complete ?? false`))
    assert.equal(await logo.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth), 320)
    assert.deepEqual(await logo.evaluate((image: any) => [image.width, image.height]), [96, 24])
    assert.match((await page.locator('link[rel=icon]').getAttribute('href'))!, /^\/brand\/ORG_\w+\/logo\//)
    const brand = await page.evaluate(`getComputedStyle(document.documentElement).getPropertyValue('--brand').trim()`)
    assert.equal(brand === '#7a1fa2', colorScheme === 'light', `${name} ${colorScheme}: ${brand}`)
    assert.notEqual(brand, '#57c3a3')
    await page.getByText('Metro Staffing Private Limited, Pune').waitFor()
    await saveScreenshot(page, `branded-${name}-${colorScheme}`)
    await assertAccessible(page)
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name} does not overflow`)
    const shift = (await page.evaluate('shiftSum')) as number
    assert.ok(shift <= MAX_LAYOUT_SHIFT, `${name} ${colorScheme}: layout shift of ${shift}`)
    await page.close()
  }
}

test('an owner sets the branding, and people see it on their pages', async (t) => {
  const app = await startSharedApp()
  const { partner, link } = await contactTestCandidate(app)
  const { orgId } = partner
  const owner = await signInMember(app, orgId, 'owner')
  const page = await openConsolePage(t, app, { email: owner.email, width: 1280, height: 900 })
  await page.goto(`${app.url}/console/${orgId}/test`)
  await getNavLink(page, 'Branding').click()
  await waitForHeading(page, 'Branding')
  await page.getByLabel('Name', { exact: true }).fill('Metro Staffing')
  await page.getByLabel('Footer').fill('  Metro Staffing Private Limited, Pune ')
  await page.getByLabel('Website').fill('metro.example')
  await page.getByLabel('Reply address of emails').fill('jobs@metro.example')

  // A file that is not an image, and a colour that is hard to read.
  const svg = { name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg xmlns="x"/>') }
  await page.getByLabel('Logo', { exact: true }).setInputFiles(svg)
  await page.getByLabel('Colour', { exact: true }).fill('#ffcc00')
  await page.getByText('White text on the colour: 1.51:1').waitFor()
  await getButton(page, 'Save branding').click()
  await page.getByText('Not saved. Correct the marked fields above.').waitFor()
  assert.equal(await page.locator('.field-error').count(), 3)
  assert.match((await page.locator('.field-error').allTextContents()).join('\n'), /PNG, JPEG or WebP.*https address/s)
  await checkSizes(page, 'branding-invalid')

  await page.getByRole('button', { name: /^Use #[0-9a-f]{6} instead$/ }).click()
  await page.getByText('Readable: at least 4.5:1 everywhere.').waitFor()
  await page.getByLabel('Colour', { exact: true }).fill('#7a1fa2')
  await page.getByLabel('Website').fill('https://www.metro.example')
  const png = { name: 'logo.png', mimeType: 'image/png', buffer: pngImage(320, 80) }
  await page.getByLabel('Logo', { exact: true }).setInputFiles(png)
  await getButton(page, 'Save branding').click()
  await page.getByText('Branding saved.').waitFor()
  await page.getByText('Readable: at least 4.5:1 everywhere.').waitFor()
  await checkSizes(page, 'branding')
  await page.reload()
  await page.getByRole('img', { name: 'Current logo' }).waitFor()
  assert.equal(await page.getByLabel('Colour', { exact: true }).inputValue(), '#7a1fa2')
  assert.equal(await page.getByLabel('Footer').inputValue(), 'Metro Staffing Private Limited, Pune')

  const candidatePath = new URL(link).pathname
  await checkBrandedPage(t, app.url + candidatePath, 'candidate', (each) =>
    each.locator('.answers [aria-disabled="false"]').first().waitFor(),
  )
  await checkBrandedPage(
    t,
    `${app.url}/your-data/candidate#token=${candidatePath.split('/').pop()}`,
    'your-data',
    (each) => each.getByRole('heading', { level: 1 }).waitFor(),
  )
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const { session, token } = await calls.requestReview()
  await checkBrandedPage(t, `${app.url}/verify/${session.id}#token=${token}`, 'reviewer', (each) =>
    each.getByRole('heading', { level: 2 }).first().waitFor(),
  )
  const other = await calls.openSession({ externalStudentId: 'stu-2', email: 'second@example.com' })
  await checkBrandedPage(t, `${app.url}/session#token=${other.token}`, 'student', (each) =>
    each.getByRole('heading', { level: 1 }).waitFor(),
  )
})

test('viewers can only read the branding', async (t) => {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  await owner.put(`/orgs/${orgId}/branding`, { colour: '#1d5fbf' })
  const viewer = await signInMember(app, orgId, 'viewer')
  const page = await openConsolePage(t, app, { email: viewer.email })
  await page.goto(`${app.url}/console/${orgId}/test/branding`)
  await page.getByText('Only owners can change the branding.').waitFor()
  assert.equal(await page.getByLabel('Colour', { exact: true }).inputValue(), '#1d5fbf')
  assert.equal(await page.getByRole('button', { name: /Save|Remove/ }).count(), 0)
  await assertAccessible(page)
})

test("a candidate's first visit stays small with branding", async (t) => {
  const app = await startSharedApp()
  const { partner, link } = await contactTestCandidate(app)
  const owner = await signInMember(app, partner.orgId, 'owner')
  const logo = pngImage(320, 80).toString('base64')
  await owner.put(`/orgs/${partner.orgId}/branding`, { colour: '#7a1fa2', footer: 'Metro Staffing, Pune', logo })
  const page = await newPage(t, PHONE)
  const sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => {
    if (request.url().includes('/logo/')) return
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
  })
  await page.goto(app.url + new URL(link).pathname)
  await page.locator('.answers [aria-disabled="false"]').first().waitFor()
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  t.diagnostic(`${sizes.length} requests, ${bytes} bytes`)
  assert.ok(bytes < MAX_FIRST_VISIT_BYTES, `${bytes} bytes`)
})
