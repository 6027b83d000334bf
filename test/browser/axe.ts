import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE_SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeViolation {
  id: string
  impact: string
  help: string
  nodes: { html: string; failureSummary: string }[]
}

/** Asserts that axe finds no serious or critical violation in the current state of the page. */
export async function assertAccessible(page: Page): Promise<void> {
  assert.deepEqual(await listViolations(page, ['serious', 'critical']), [])
}

/** Returns the violations that axe finds in the current state of the page, of any impact or only of some. */
export async function listViolations(page: Page, impacts?: string[]): Promise<string[]> {
  // The page's Content-Security-Policy does not apply to scripts that the debugger evaluates.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE_SOURCE)
  // The list of passed checks is thousands of elements long; transferring it would take longer than the checks.
  const violations = (await page.evaluate(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }).then(({ violations }) => violations)",
  )) as AxeViolation[]
  return violations
    .filter(({ impact }) => impacts === undefined || impacts.includes(impact))
    .flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`))
}
