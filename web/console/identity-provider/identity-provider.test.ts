import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE } from '../../../server/platform/clock.ts'
import { newPage } from '../../../test/browser/browser.ts'
import {
  checkPage,
  getButton,
  getDialog,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock, TestClock } from '../../../test/support/clock.ts'
import { CONSOLE_API, signInMember } from '../../../test/support/console.ts'
import { CLIENT, startIdentityProvider } from '../../../test/support/identity-provider.ts'

test('an owner sets up an identity provider, and members sign in with it', async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  const idp = await startIdentityProvider(t, app.url, orgId)
  await signInMember(app, orgId, 'owner', 'owner@metro.example')
  const page = await openConsolePage(t, app, { email: 'owner@metro.example' })
  await getNavLink(page, 'Team').click()
  await page.getByRole('link', { name: 'Identity provider' }).click()
  await waitForHeading(page, 'Identity provider')
  await page.getByText(`${app.url}${CONSOLE_API}/sign-in/callback/${orgId}`, { exact: true }).waitFor()
  await page.getByLabel('Name on the sign-in button').fill('Metro ID')
  await page.getByLabel('Issuer').fill(app.url)
  await page.getByLabel('Client ID').fill(CLIENT.client_id)
  await page.getByLabel('Client secret').fill(CLIENT.client_secret)
  await page.getByLabel('Domains of email addresses').fill('metro.example')
  await page.getByLabel('Groups with the role owner').fill('admins')
  await getButton(page, 'Save').click()
  await page.getByText('has no usable OpenID Connect metadata').waitFor()
  await page.getByLabel('Issuer').fill(idp.issuer)
  await getButton(page, 'Save').click()
  await page.getByText('People sign in at').waitFor()
  await getButton(page, 'Create a token').click()
  await page.getByText(/scim_[\w-]{43}/).waitFor()
  await getButton(page, 'Revoke the token').waitFor()
  await checkPage(page, 'identity-provider')
  await page.setViewportSize({ width: 360, height: 740 })
  await checkPage(page, 'identity-provider-narrow')

  // A deep link shows the button of the organisation's provider, and the sign-in returns to it.
  const memberPage = await newPage(t)
  const deepLink = `${app.url}/console/${orgId}/test/members`
  await memberPage.goto(deepLink)
  await getButton(memberPage, 'Sign in with Metro ID').waitFor()
  await checkPage(memberPage, 'sign-in-provider')
  await getButton(memberPage, 'Sign in with Metro ID').click()
  await memberPage.getByText('None of your groups gives you access').waitFor()
  await checkPage(memberPage, 'sign-in-provider-failed')
  idp.account.groups = ['admins']
  await memberPage.goto(deepLink)
  await getButton(memberPage, 'Sign in with Metro ID').click()
  await waitForHeading(memberPage, 'Team')
  assert.equal(memberPage.url(), deepLink)
  await memberPage.getByRole('cell', { name: 'asha@metro.example', exact: true }).waitFor()

  // A sensitive change asks for a new sign-in, which returns to the same page.
  const addViewer = async (email: string) => {
    await getButton(memberPage, 'Add member').click()
    await getDialog(memberPage).getByLabel('Email address').fill(email)
    await getDialog(memberPage).getByRole('button', { name: 'Add member' }).click()
  }
  await addViewer('new@metro.example')
  await memberPage.getByText('within the last 15 minutes').waitFor()
  await checkPage(memberPage, 'confirm-with-provider')
  await getButton(memberPage, 'Sign in again with Metro ID').click()
  // Until the browser leaves the page, it shows two dialogs.
  await memberPage.getByText('within the last 15 minutes').waitFor({ state: 'detached' })
  await waitForHeading(memberPage, 'Team')
  await addViewer('new@metro.example')
  await memberPage.getByRole('cell', { name: 'new@metro.example', exact: true }).waitFor()

  // Required: members who signed in by email are asked to use the provider.
  await memberPage.getByRole('link', { name: 'Identity provider' }).click()
  await memberPage.getByLabel('Require this identity provider: nobody can sign in by email').check()
  await getButton(memberPage, 'Save').click()
  await memberPage.getByText('Saved.').waitFor()
  await page.reload()
  await waitForHeading(page, 'Sign in with the identity provider')
  await checkPage(page, 'identity-provider-required')
  await page.setViewportSize({ width: 1280, height: 800 })

  app.clock.advance(MINUTE)
  await getButton(memberPage, 'Sign out').click()
  const signOutLink = memberPage.getByRole('link', { name: 'Sign out of the identity provider, too' })
  assert.match((await signOutLink.getAttribute('href'))!, new RegExp(`^${idp.issuer}/session/end`))
})
