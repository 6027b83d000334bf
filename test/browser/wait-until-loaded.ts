import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'

/** The class of the grey bars that are shown while a part of a page loads. */
export const PLACEHOLDER_CLASS = 'waiting'

export async function waitUntilLoaded(page: Page): Promise<void> {
  await until(async () => (await page.locator(`[aria-busy="true"], .${PLACEHOLDER_CLASS}`).count()) === 0)
}
