import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkPage,
  chooseAction,
  getButton,
  getDialog,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startConsoleWithResults } from '../../../test/browser/recruiter-console.ts'
import { signInMember } from '../../../test/support/console.ts'

test('a recruiter searches, marks candidates, saves a view, and returns to it with “Back”', async (t) => {
  const { app, email, campaignUrl } = await startConsoleWithResults(t)
  const page = await openConsolePage(t, app, { email })
  await page.goto(campaignUrl.replace(/\/campaigns\/.*/, '/results'))
  await page.getByText('4 candidates', { exact: true }).waitFor()
  const links = page.getByRole('link', { name: /^Person/ })
  assert.equal(await links.count(), 4)

  await page.getByLabel('Search', { exact: true }).fill('0000002')
  await page.getByText('1 candidate', { exact: true }).waitFor()
  assert.deepEqual(await links.allTextContents(), ['Person 2'])
  await page.getByLabel('Search', { exact: true }).fill('')
  await page.getByText('4 candidates', { exact: true }).waitFor()

  await page.getByLabel('Select Person 1').check()
  await page.getByLabel('Select Person 4').check()
  await page.getByText('2 candidates selected').waitFor()
  await getButton(page, 'Shortlisted').click()
  await page.getByRole('row', { name: /Person 4 .*Shortlisted/ }).waitFor()
  await page.getByLabel('Select Person 1').check()
  await chooseAction(page, 'Write note')
  await getDialog(page).getByLabel('Note').fill('Call after 6 pm')
  await getDialog(page).getByRole('button', { name: 'Save note' }).click()
  await page.getByText('Call after 6 pm').waitFor()
  await checkPage(page, 'results-decisions')

  await page.getByLabel('Decision').selectOption('shortlisted')
  await page.getByText('2 candidates', { exact: true }).waitFor()
  await getButton(page, 'Save view').click()
  await getDialog(page).getByLabel('Name').fill('Shortlist')
  await getDialog(page).getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('link', { name: 'Shortlist', exact: true }).waitFor()

  await page.getByRole('link', { name: 'Person 1', exact: true }).click()
  await waitForHeading(page, /^Person 1/)
  await page.goBack()
  await page.getByText('2 candidates', { exact: true }).waitFor()
  assert.match(page.url(), /decision=shortlisted/)
  await page.setViewportSize({ width: 320, height: 640 })
  await checkPage(page, 'results-decisions-320')
})

test('a member who gets candidates assigned is notified, counts them, opens them and decides', async (t) => {
  const { app, email, campaignUrl } = await startConsoleWithResults(t)
  const orgId = /ORG_\w+/.exec(campaignUrl)![0]
  const colleague = await signInMember(app, orgId, 'recruiter')
  assert.equal((await colleague.put('/account/name', { name: 'Meera Nair' })).status, 200)
  const page = await openConsolePage(t, app, { email })
  await page.goto(campaignUrl.replace(/\/campaigns\/.*/, '/results'))
  await page.getByLabel('Select Person 1').check()
  await page.getByLabel('Select Person 4').check()
  await getButton(page, 'Assign').click()
  await getDialog(page).getByLabel('Assigned to').selectOption('Meera Nair')
  await checkPage(page, 'results-assign')
  await getDialog(page).getByRole('button', { name: 'Save assignment' }).click()
  await page.getByRole('row', { name: /Person 4 .*Meera Nair/ }).waitFor()

  const assignee = await openConsolePage(t, app, { email: colleague.email })
  await assignee.getByRole('link', { name: /^Assigned to you 2$/ }).waitFor()
  await checkPage(assignee, 'start-assigned')
  await assignee.goto(campaignUrl.replace(/\/campaigns\/.*/, '/notifications'))
  await assignee.getByRole('link', { name: '2 candidates were assigned to you' }).click()
  await waitForHeading(assignee, 'Results')
  await assignee.getByText('2 candidates', { exact: true }).waitFor()
  await assignee.getByRole('link', { name: 'Assigned to me (2)' }).waitFor()
  await checkPage(assignee, 'results-assigned')
  await assignee.getByLabel('Select Person 1').check()
  await getButton(assignee, 'Called').click()
  await assignee.getByRole('link', { name: 'Assigned to me (1)' }).waitFor()
  await assignee.getByText('1 candidate', { exact: true }).waitFor()
  assert.deepEqual(await assignee.getByRole('link', { name: /^Person/ }).allTextContents(), ['Person 4'])
  await assignee.getByRole('link', { name: 'Person 4', exact: true }).click()
  await waitForHeading(assignee, /^Person 4/)
  const work = assignee.getByRole('region', { name: 'Decision' })
  await work.getByText('Assigned to Meera Nair').waitFor()
  await work.getByRole('button', { name: 'Shortlisted' }).click()
  await work.getByRole('button', { name: 'Shortlisted', pressed: true }).waitFor()
  await work.getByText(/Last change by Meera Nair/).waitFor()
  for (const width of [360, 1060, 1120]) {
    await assignee.setViewportSize({ width, height: 800 })
    const boxes = await Promise.all(
      ['Called', 'Shortlisted', 'Rejected'].map((name) => work.getByRole('button', { name }).boundingBox()),
    )
    assert.equal(new Set(boxes.map((box) => box!.y)).size, 1, `the decisions are on one line at ${width} pixels`)
    assert.ok(boxes.every((box) => box!.height < 40))
  }
  await work.getByRole('button', { name: 'Write note' }).click()
  await getDialog(assignee).getByLabel('Note').fill('Speaks Marathi')
  await getDialog(assignee).getByRole('button', { name: 'Save note' }).click()
  await work.getByText('Speaks Marathi').waitFor()
  await work.getByRole('button', { name: 'Assign' }).click()
  await getDialog(assignee).getByLabel('Assigned to').selectOption('Nobody')
  await getDialog(assignee).getByRole('button', { name: 'Save assignment' }).click()
  await work.getByText('Not assigned').waitFor()
  await checkPage(assignee, 'result-decision')
  await assignee.getByRole('link', { name: 'View conversation' }).click()
  await assignee.getByRole('heading', { level: 2, name: 'Conversation' }).waitFor()
  await waitForHeading(assignee, 'Person 4 Qualified')
  await work.getByRole('button', { name: 'Shortlisted', pressed: true }).click()
  await work.getByRole('button', { name: 'Shortlisted', pressed: false }).waitFor()
  await checkPage(assignee, 'candidate-decision')
})

test('the search box finds candidates, campaigns and pages from any page', async (t) => {
  const { app, email } = await startConsoleWithResults(t)
  const page = await openConsolePage(t, app, { email })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const search = page.getByRole('combobox', { name: 'Search pages and records' })
  await search.fill('march')
  await page.getByRole('option', { name: /^March intake/ }).waitFor()
  await checkPage(page, 'command-palette')
  await search.fill('person 5')
  await page.getByRole('option', { name: /^Person 5/ }).click()
  await waitForHeading(page, /^Person 5/)
  await page.keyboard.press('/')
  await search.fill('webhooks')
  await page.getByRole('option', { name: /^Webhooks/ }).waitFor()
  await search.press('Enter')
  await waitForHeading(page, 'Webhooks')
})
