import assert from 'node:assert/strict'

import type { Page } from 'playwright-core'
import type { TestApp } from '../support/app.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { createTestSignInLink } from '../support/console.ts'
import { assertAccessible } from './axe.ts'
import { newPage, type PageOptions } from './browser.ts'
import { saveScreenshot } from './screenshots.ts'
import { PLACEHOLDER_CLASS, waitUntilLoaded } from './wait-until-loaded.ts'

/** Opens the console in a new page, signed in as a member by email address, or as the operator. */
export async function openConsolePage(
  t: Cleanup,
  app: TestApp,
  { email = null, ...options }: PageOptions & { email?: string | null } = {},
): Promise<Page> {
  const page = await newPage(t, options)
  await page.goto(await createTestSignInLink(app, email))
  await page.locator('nav').waitFor({ state: 'attached' })
  return page
}

/** Asserts that the page is accessible and does not scroll horizontally, and takes a screenshot. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await waitUntilLoaded(page)
  await saveScreenshotFromTop(page, name)
  // A part of the page can start to load again; its placeholder has transparent text, which axe reports.
  await assertAccessible(page).catch(async (error) => {
    if (!String(error).includes(PLACEHOLDER_CLASS)) throw error
    await waitUntilLoaded(page)
    await assertAccessible(page)
  })
  assert.ok(
    await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
    `${name}: the page does not scroll horizontally`,
  )
}

/** Scrolls to the top first: sticky elements would otherwise appear in the middle of a full-page screenshot. */
export async function saveScreenshotFromTop(page: Page, name: string): Promise<void> {
  await page.evaluate('scrollTo(0, 0)')
  await saveScreenshot(page, name)
}

/** Waits until the animations of the simulator phone have ended. */
export async function waitForPhoneAnimations(page: Page): Promise<void> {
  const animations = `document.querySelector('.simulator-phone').getAnimations({ subtree: true })`
  await page.evaluate(`Promise.all(${animations}.map(({ finished }) => finished)).then(() => {})`)
}

export const waitForHeading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()
export const getButton = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
export const getDialog = (page: Page) => page.getByRole('dialog')
export const getNavLink = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true })

/** Chooses an action of the menu “More”. */
export async function chooseAction(page: Page, name: string): Promise<void> {
  await getButton(page, 'More').click()
  await page.getByRole('menuitem', { name, exact: true }).click()
}
