import { test } from 'node:test'
import { checkPage, getButton, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { respondWithCompletion, startAiEndpoint } from '../../../test/support/ai-endpoint.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'

const HINDI = ['परत टेढ़ी हो गई। आप क्या करेंगे?', 'उठाकर फिर लगाएँगे', 'जोड़ मोटा करेंगे', 'प्लास्टर करेंगे', 'ईंटें काट देंगे']

test('an owner adds a question of their own and confirms its translation', async (t) => {
  const { baseUrl } = await startAiEndpoint(t, respondWithCompletion({ hi: HINDI }))
  const app = await startApp(t, { config: { ai: { baseUrl, apiKey: 'secret-key', model: 'some-model' } } })
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const page = await openConsolePage(t, app, { email: owner.email })
  await page.goto(`${app.url}/console/${orgId}/test/questions/sk_1001`)
  await page.getByRole('link', { name: 'Add your own question' }).click()
  await waitForHeading(page, /^New question about /)
  await getButton(page, 'Add question').click()
  await page.locator('#stem-en-error').getByText('Enter a question').waitFor()
  await page.getByLabel('Question, in English').fill('A course of bricks runs out of level. What do you do?')
  const answers = ['Lift and relay it', 'Thicken the joint', 'Plaster over it', 'Cut the bricks']
  await page.getByLabel('Right answer, in English').fill(answers[0]!)
  for (const number of [1, 2, 3]) await page.getByLabel(`Wrong answer ${number}, in English`).fill(answers[number]!)
  await page.getByLabel('Add a language').selectOption('hi')
  await getButton(page, 'Suggest a translation into Hindi').click()
  await getButton(page, 'Use this translation').waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await checkPage(page, 'question-edit-360')
  await page.setViewportSize({ width: 1280, height: 800 })
  await checkPage(page, 'question-edit')
  await getButton(page, 'Use this translation').click()
  await page.getByLabel('Right answer, in Hindi').fill('उठाकर दोबारा लगाएँगे')
  await getButton(page, 'Add question').click()
  await waitForHeading(page, /^Question active/)
  await page.getByRole('main').getByLabel('Language').selectOption('hi')
  await page.getByText('उठाकर दोबारा लगाएँगे').waitFor()
  await page.getByRole('link', { name: 'Edit and translate' }).click()
  await waitForHeading(page, 'Edit question')
  await page.getByLabel('Difficulty').selectOption('3')
  await getButton(page, 'Save question').click()
  await waitForHeading(page, /^Question active/)
})
