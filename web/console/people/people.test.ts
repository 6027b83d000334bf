import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { checkSizes } from '../../../test/browser/check-sizes.ts'
import {
  checkPage,
  chooseAction,
  getButton,
  getDialog,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { requestReview } from '../../../test/support/verification.ts'
import { contactTestCandidate } from '../../../test/support/your-data.ts'

const startSharedApp = oncePerFile(async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  return app
})

test('an owner finds a person, exports, corrects, restricts, holds and erases them', async (t) => {
  const app = await startSharedApp()
  const { partner, candidateId } = await contactTestCandidate(app, { name: 'Asha Verma' })
  const owner = await signInMember(app, partner.orgId, 'owner')
  const page = await openConsolePage(t, app, { email: owner.email })
  await page.goto(`${app.url}/console/${partner.orgId}/test`)
  await getNavLink(page, 'People').click()
  await waitForHeading(page, 'People')
  const address = page.getByLabel('Phone number or email address')
  await address.fill('98123')
  await getButton(page, 'Find').click()
  await page.getByText('Enter the phone number with country code').waitFor()
  await address.fill('nobody@example.com')
  await getButton(page, 'Find').click()
  await page.getByText('No person has this address in TEST mode.').waitFor()
  await address.fill('+91 98100 00001')
  await getButton(page, 'Find').click()
  const personLink = page.getByRole('link', { name: /^PER_/ })
  await personLink.waitFor()
  assert.doesNotMatch(page.url(), /9810000001/)
  await checkSizes(page, 'people')
  const personId = (await personLink.textContent())!
  await personLink.click()
  await waitForHeading(page, /^Candidate .+ active$/)
  const candidacy = page.getByRole('row', { name: /Electrician/ })
  await candidacy.getByText('pending').waitFor()
  assert.equal(
    await candidacy.getByRole('link', { name: 'Electrician' }).first().getAttribute('href'),
    `/console/${partner.orgId}/test/candidates/${candidateId}`,
  )
  assert.equal(await page.getByText('Asha Verma').count(), 0, 'values are shown on request only')

  await getButton(page, 'Show the data').click()
  await page.getByText('Asha Verma').first().waitFor()
  await checkSizes(page, 'person')
  for (const [format, content] of [
    ['HTML', /^<!doctype html>.*Asha Verma/s],
    ['JSON', /"person_id": "PER_.*Asha Verma/s],
  ] as const) {
    const download = page.waitForEvent('download')
    await chooseAction(page, `Download as ${format}`)
    const file = await download
    assert.equal(file.suggestedFilename(), `${personId}.${format.toLowerCase()}`)
    assert.match(await readFile(await file.path(), 'utf8'), content)
  }

  await getButton(page, 'Correct').click()
  await page.getByLabel('Correct email address').fill('asha')
  await getDialog(page).getByRole('button', { name: 'Correct', exact: true }).click()
  await page.getByText('Enter an email address, such as').waitFor()
  await checkSizes(page, 'person-correct')
  await page.getByLabel('Correct email address').fill('asha.verma@example.com')
  await page.getByLabel('Correct name').fill('Asha Varma')
  await page.getByLabel('Who asked').fill('the person, ticket 4711')
  await getDialog(page).getByRole('button', { name: 'Correct', exact: true }).click()
  await page.getByText('The data was corrected.').waitFor()
  await getButton(page, 'Show the data').click()
  await page.getByText('Asha Varma').first().waitFor()

  await chooseAction(page, 'Restrict')
  await getDialog(page).getByRole('button', { name: 'Restrict', exact: true }).click()
  await waitForHeading(page, /^Candidate .+ restricted$/)
  await chooseAction(page, 'Lift the restriction')
  await getDialog(page).getByRole('button', { name: 'Lift the restriction', exact: true }).click()
  await waitForHeading(page, /^Candidate .+ active$/)

  await chooseAction(page, 'Start a legal hold')
  await page.getByLabel('Reason').fill('Lawsuit 12/2026')
  await getButton(page, 'Start the legal hold').click()
  await page.getByText('The data must be kept.').waitFor()
  await getButton(page, 'More').click()
  await page.getByRole('menuitem', { name: 'Erase', disabled: true }).waitFor()
  await checkSizes(page, 'person-menu')
  await page.getByRole('menuitem', { name: 'End the legal hold' }).click()
  await getDialog(page).getByRole('button', { name: 'End the legal hold', exact: true }).click()
  await page.getByText('The legal hold was ended.').waitFor()

  await chooseAction(page, 'Erase')
  await page.getByLabel('Who asked').fill('the person, ticket 4711')
  await page.getByLabel('Basis').fill('GDPR Article 17')
  await checkSizes(page, 'person-erase')
  assert.ok(await getButton(page, 'Erase the person').isDisabled(), 'the word is missing')
  await page.getByLabel('To confirm, enter: erase').fill('erase')
  await getButton(page, 'Erase the person').click()
  await waitForHeading(page, /^Person .+ erased$/)
  await checkSizes(page, 'person-erased')
  assert.equal(await getButton(page, 'More').count(), 0)
  await candidacy.getByRole('link', { name: 'Electrician' }).first().click()
  await waitForHeading(page, /^erased/)
  await checkPage(page, 'candidate-of-erased-person')
  assert.doesNotMatch(await page.content(), /Asha|9810000001/)

  await page.goto(`${app.url}/console/${partner.orgId}/test/audit`)
  for (const sentence of ['Erased a person', 'Corrected the data of a person', 'Changed the legal hold of a person'])
    await page.getByText(sentence).first().waitFor()
  const entries = (await owner.get(`/orgs/${partner.orgId}/audit?limit=50`)).body.data.items
  const erasure = entries.find(({ action }: { action: string }) => action === 'person.erase')
  assert.deepEqual(
    [erasure.who, erasure.actor, erasure.subject, erasure.details],
    [owner.email, 'member', personId, { basis: 'GDPR Article 17', requested_by: 'the person, ticket 4711' }],
  )
  const actions = new Set(entries.map(({ action }: { action: string }) => action))
  for (const action of ['person.find', 'person.export', 'person.correct', 'person.restrict', 'person.hold'])
    assert.ok(actions.has(action), action)
})

test('the actions on a person can be chosen with the keyboard, and the focus returns to the button of the menu', async (t) => {
  const app = await startSharedApp()
  const { partner } = await contactTestCandidate(app, { name: 'Asha Verma' })
  const [person] = (await partner.get('/people?phone=%2B919810000001')).body.data.items
  const owner = await signInMember(app, partner.orgId, 'owner')
  const page = await openConsolePage(t, app, { email: owner.email })
  await page.goto(`${app.url}/console/${partner.orgId}/test/people/${person.person_id}`)
  const button = getButton(page, 'More')
  const focusedText = () => page.evaluate<string>('document.activeElement.textContent')
  const pressAndRead = async (key: string) => {
    await page.keyboard.press(key)
    return focusedText()
  }
  await button.focus()
  for (const [key, text] of [
    ['Enter', 'Download as HTML'],
    ['ArrowDown', 'Download as JSON'],
    ['End', 'Erase'],
    ['ArrowDown', 'Download as HTML'],
    ['ArrowUp', 'Erase'],
    ['s', 'Start a legal hold'],
    ['Home', 'Download as HTML'],
    ['Escape', 'More'],
    ['ArrowUp', 'Erase'],
  ] as const)
    assert.equal(await pressAndRead(key), text, key)
  await page.keyboard.press('Tab')
  await page.getByRole('menu').waitFor({ state: 'detached' })

  await button.focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('r')
  await page.keyboard.press('Enter')
  await getDialog(page).getByRole('heading', { name: 'Restrict processing?' }).waitFor()
  assert.equal(await page.getByRole('menu').count(), 0)
  await page.keyboard.press('Escape')
  await getDialog(page).waitFor({ state: 'detached' })
  assert.equal(await focusedText(), 'More')

  await button.click()
  await page.getByRole('heading', { level: 1 }).click()
  await page.getByRole('menu').waitFor({ state: 'detached' })
})

test('only owners find people, and an erasure needs a recent sign-in', async () => {
  const app = await startSharedApp()
  const { partner } = await contactTestCandidate(app)
  const [person] = (await partner.get('/people?phone=%2B919810000001')).body.data.items
  for (const role of ['viewer', 'recruiter'] as const) {
    const member = await signInMember(app, partner.orgId, role)
    const personPath = `/people/${person.person_id}`
    for (const path of ['/people?phone=%2B919810000001', `${personPath}/export`, `${personPath}/records`])
      assert.equal((await member.get(`/orgs/${partner.orgId}/test${path}`)).status, 403, `${role} ${path}`)
  }
  const owner = await signInMember(app, partner.orgId, 'owner')
  app.clock.advance(16 * 60_000)
  const reason = { basis: 'GDPR Article 17', requested_by: 'the person' }
  const { status, body } = await owner.post(`/orgs/${partner.orgId}/test/people/${person.person_id}/erase`, reason)
  assert.deepEqual([status, body.error.code], [403, 'RECENT_SIGN_IN_REQUIRED'])
})

test('the records of a person are the verifications as student and as reviewer', async () => {
  const app = await startSharedApp()
  const { orgId, session, listEmails } = await requestReview(app, {
    email: 'asha@example.com',
    externalStudentId: 'stu-7',
  })
  const owner = await signInMember(app, orgId, 'owner')
  const readRecords = async (email: string) => {
    const path = `/orgs/${orgId}/live/people`
    const [person] = (await owner.get(`${path}?email=${encodeURIComponent(email)}`)).body.data.items
    return (await owner.get(`${path}/${person.person_id}/records`)).body.data
  }
  const { candidacies, verifications } = await readRecords('asha@example.com')
  assert.deepEqual(candidacies, [])
  const { created_at, ...verification } = verifications[0]
  assert.deepEqual(verification, {
    verification_id: session.id,
    role: 'student',
    external_student_id: 'stu-7',
    status: 'pending_review',
    method: 'human',
    skills: 2,
  })
  assert.ok(Date.parse(created_at) > 0)
  const reviewed = (await readRecords((await listEmails(session))[0]!.to_address)).verifications
  assert.deepEqual(
    reviewed.map(({ verification_id, role, external_student_id }: any) => [verification_id, role, external_student_id]),
    [[session.id, 'reviewer', null]],
  )
})
