import assert from 'node:assert/strict'
import { test } from 'node:test'
import { totpAt } from '../../../server/console/second-factors/totp.ts'
import { MINUTE } from '../../../server/platform/clock.ts'
import { newPage } from '../../../test/browser/browser.ts'
import { checkPage, getButton, getDialog, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { decodeBase32 } from '../../../test/support/base32.ts'
import { runClock, TestClock } from '../../../test/support/clock.ts'
import { createTestSignInLink, signInMember } from '../../../test/support/console.ts'

test('a member adds a passkey and an authenticator app, and signs in and confirms a change with them', async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  runClock(t, app.clock)
  // Browsers allow passkeys at the name localhost, but not at an IP address.
  const url = app.url.replace('127.0.0.1', 'localhost')
  app.context.config.publicUrl = url
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  await signInMember(app, orgId, 'owner', 'owner@metro.example')
  const page = await newPage(t)
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('WebAuthn.enable')
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.goto(await createTestSignInLink(app, 'owner@metro.example'))
  await waitForHeading(page, 'Metro Staffing')
  await page.getByRole('link', { name: 'owner@metro.example' }).click()
  await getButton(page, 'Add a passkey').click()
  await page.getByRole('cell', { name: /^Passkey of/ }).waitFor()
  await page.getByRole('cell', { name: /^Chrome \d+, Linux$/ }).waitFor()
  await checkPage(page, 'account')
  await page.setViewportSize({ width: 360, height: 740 })
  await checkPage(page, 'account-narrow')
  await page.setViewportSize({ width: 1280, height: 800 })

  await getButton(page, 'Sign out').click()
  await getButton(page, 'Sign in with a passkey').waitFor()
  await checkPage(page, 'sign-in-passkey')
  await getButton(page, 'Sign in with a passkey').click()
  await page.getByRole('navigation').waitFor({ state: 'attached' })

  app.clock.advance(16 * MINUTE)
  await page.goto(`${url}/console/account`)
  await getButton(page, 'Set up an app').click()
  await getDialog(page).getByRole('button', { name: 'Use a passkey' }).click()
  await getDialog(page).getByAltText('QR code with the secret').waitFor()
  await checkPage(page, 'authenticator-app')
  await getDialog(page).getByLabel('Code of the app').fill('000000')
  await getDialog(page).getByRole('button', { name: 'Turn on' }).click()
  await getDialog(page).getByText('check the time of your device').waitFor()
  const secret = decodeBase32((await getDialog(page).locator('code').textContent())!)
  await getDialog(page).getByLabel('Code of the app').fill(totpAt(secret, app.clock.now()))
  await getDialog(page).getByRole('button', { name: 'Turn on' }).click()
  const codes = (await getDialog(page).locator('pre').textContent())!.split('\n')
  assert.equal(codes.length, 10)
  await checkPage(page, 'recovery-codes')
  await getButton(page, 'I have stored them').click()
  await page.getByText('Recovery codes left: 10').waitFor()

  await page.getByRole('button', { name: /^Remove the passkey/ }).click()
  await page.getByRole('cell', { name: /^Passkey of/ }).waitFor({ state: 'detached' })
  const { rows } = await app.context.db.pool.query(
    `select action from audit_log where action like 'passkey.%' order by 1`,
  )
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['passkey.add', 'passkey.remove'],
  )

  app.context.config.publicUrl = app.url // an IP address
  await page.reload()
  await page.getByText('Passkeys need a server with a domain name and HTTPS.').waitFor()
  assert.equal(await getButton(page, 'Add a passkey').count(), 0)
  app.context.config.publicUrl = url

  // A sign-in link now also requires a code.
  const otherPage = await newPage(t)
  await otherPage.goto(await createTestSignInLink(app, 'owner@metro.example'))
  await otherPage.getByLabel('Code').fill('123')
  await getButton(otherPage, 'Sign in').click()
  await otherPage.getByText('This code is wrong or was already used.').waitFor()
  await checkPage(otherPage, 'sign-in-code')
  await otherPage.getByLabel('Code').fill(codes[0]!)
  await getButton(otherPage, 'Sign in').click()
  await otherPage.getByRole('navigation').waitFor({ state: 'attached' })
})
