import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage } from '../../test/browser/browser.ts'
import { saveScreenshot } from '../../test/browser/screenshots.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signInMember } from '../../test/support/console.ts'
import { pngImage } from '../../test/support/images.ts'
import { issueCredential } from '../../test/support/issued-credentials.ts'
import { startVerification, verificationCalls } from '../../test/support/verification.ts'

const PHONE = { width: 360, height: 740, hasTouch: true, isMobile: true }

const startShared = oncePerFile((t) => startVerification(t))

test('a holder switches the profile on, hides and revokes a credential, and adds the name', async (t) => {
  const calls = await startShared()
  const { holderToken, url } = await issueCredential(calls)
  const page = await newPage(t, PHONE)
  await page.goto(`${calls.app.url}/my-credentials#token=${holderToken}`)
  await page.getByRole('link', { name: 'Bricklaying' }).waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the token does not stay in the address')
  await assertAccessible(page)
  await saveScreenshot(page, 'my-credentials-phone')
  const issuedOn = 'Issued on: 11 March 2026'
  assert.ok(await page.getByText(issuedOn).isVisible())

  await page.getByRole('button', { name: 'Switch on' }).click()
  const profileLink = page.getByRole('link', { name: /\/profiles\// })
  await profileLink.waitFor()
  const profileUrl = (await profileLink.getAttribute('href'))!
  const profile = await newPage(t, PHONE)
  await profile.goto(profileUrl)
  await profile.getByRole('heading', { name: 'Verified skills', exact: true }).waitFor()
  assert.equal(await profile.getByRole('link', { name: 'Bricklaying' }).count(), 1)
  assert.ok(await profile.getByText(issuedOn).isVisible(), 'the same date on all pages')
  await assertAccessible(profile)
  assert.ok(await profile.evaluate('document.documentElement.scrollWidth <= innerWidth'))
  await saveScreenshot(profile, 'profile-phone')

  await page.getByRole('button', { name: 'Show my name' }).click()
  await page.getByRole('button', { name: 'Remove my name' }).waitFor()
  await profile.reload()
  await profile.getByRole('heading', { name: 'Verified skills of Asha Rao' }).waitFor()

  await page.getByRole('button', { name: 'Hide in the profile' }).click()
  await page.getByText('Not in the profile').waitFor()
  await profile.reload()
  await profile.getByText('There are no credentials on this page at the moment.').waitFor()

  await page.getByRole('button', { name: 'New link' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Yes' }).click()
  await page.getByRole('alertdialog').waitFor({ state: 'detached' })
  await page.locator(`a[href="${profileUrl}"]`).waitFor({ state: 'detached' })
  await profile.reload()
  await profile.getByText('There is no profile at this address.').waitFor()

  await page.getByRole('button', { name: 'Revoke Bricklaying' }).click()
  await page.getByText('Revoke this credential? This cannot be undone.').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Revoke Bricklaying' }).click()
  await page.getByRole('button', { name: 'Yes' }).click()
  await page.getByText('Revoked', { exact: true }).waitFor()
  assert.ok(!(await calls.app.fetch(new URL(url).pathname)).body.includes('Valid until'))
})

test('a holder downloads the learner record, in another language, and a wrong link is explained', async (t) => {
  const calls = await startShared()
  const student = { externalStudentId: 'stu-2', email: 'bina@example.com' }
  const { holderToken } = await issueCredential(calls, { student })
  const page = await newPage(t, { colorScheme: 'dark' })
  await page.goto(`${calls.app.url}/my-credentials#token=${holderToken}`)
  await page.getByRole('link', { name: 'Bricklaying' }).waitFor()
  await page.locator('select[name=lang]').selectOption('te')
  await page.getByRole('heading', { name: 'మీ ధృవపత్రాలు' }).waitFor()
  await page.getByRole('link', { name: 'Bricklaying' }).waitFor()
  await saveScreenshot(page, 'my-credentials-telugu-dark')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /CLR 2\.0/ }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'learner-record.jwt')

  const otherPage = await newPage(t)
  await otherPage.goto(`${calls.app.url}/my-credentials#token=hct_wrong`)
  await otherPage.getByText('This link does not work.').waitFor()
  await otherPage.setViewportSize({ width: 320, height: 640 })
  await assertAccessible(otherPage)
  assert.ok(await otherPage.evaluate('document.documentElement.scrollWidth <= innerWidth'))
  await saveScreenshot(otherPage, 'my-credentials-lost-link')
  await otherPage.getByLabel('Email address').fill('bina')
  await otherPage.getByRole('button', { name: 'Send the link' }).click()
  await otherPage.getByText('Enter an email address, such as name@example.com.').waitFor()
  await otherPage.getByLabel('Email address').fill('bina@example.com')
  await otherPage.getByRole('button', { name: 'Send the link' }).click()
  await otherPage.getByText('you get an email with a new link').waitFor()
})

test('the pages of a holder have the look of the organisation', async (t) => {
  const { app } = await startShared()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const branding = {
    display_name: 'Metro Staffing',
    logo: pngImage(320, 80).toString('base64'),
    colour: '#7a1fa2',
    footer: 'Metro Staffing Private Limited, Pune',
  }
  assert.equal((await owner.put(`/orgs/${orgId}/branding`, branding)).status, 200)
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const { holderToken } = await issueCredential(calls)
  const page = await newPage(t, PHONE)
  await page.goto(`${app.url}/my-credentials#token=${holderToken}`)
  await page.locator('.top .brand-name', { hasText: 'Metro Staffing' }).waitFor()
  assert.equal(await page.getByText('Attestry', { exact: true }).count(), 0)
  assert.ok(await page.locator('.top .brand-logo').isVisible())
  assert.ok(await page.getByText('Metro Staffing Private Limited, Pune').isVisible())
  const button = page.getByRole('button', { name: 'Switch on' })
  const colour = await page.evaluate("getComputedStyle(document.querySelector('button.primary')).backgroundColor")
  assert.equal(colour, 'rgb(122, 31, 162)')
  await assertAccessible(page)
  await saveScreenshot(page, 'my-credentials-branded')

  await button.click()
  const profileUrl = (await page.getByRole('link', { name: /\/profiles\// }).getAttribute('href'))!
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(profileUrl)
  await page.locator('.top .brand-name', { hasText: 'Metro Staffing' }).waitFor()
  await assertAccessible(page)
  await saveScreenshot(page, 'profile-branded-dark')
})
