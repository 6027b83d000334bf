import type { Page } from 'playwright-core'
import type { SampleData } from './sample-data.ts'

// A computed address: the pages of the console have other TypeScript settings than this file.
const routes = await import(new URL('../../web/console/shell/routes.ts', import.meta.url).href)
const { pages, operatorPages, accountPages } = routes as Record<string, Record<string, unknown>>

/** A page in one state, of which screenshots are taken in several sizes. */
export interface Picture {
  name: string
  url(data: SampleData): string
  /** The person who opens a page of the console: an owner of the organisations, or an operator. */
  signedIn?: 'owner' | 'operator'
  /** Whether the page shows the organisation with much data, which takes time to create. */
  needsMuchData?: boolean
  /** Brings the page into the state to show. */
  prepare?(page: Page): Promise<unknown>
}

/** Lists that become long in an organisation with much data. */
const LONG_PATHS = ['', '/workflows', '/mandates', '/campaigns', '/results', '/analytics', '/audit', '/requests']

/** Returns a name for the pictures of a path: `/campaigns/:campaign_id` becomes `console-campaigns-one`. */
function pictureName(prefix: string, path: string): string {
  return [prefix, ...path.split('/').filter(Boolean)].map((part) => (part.startsWith(':') ? 'one' : part)).join('-')
}

function fillPath(path: string, { parameters }: SampleData): string {
  return path.replace(/:(\w+)/g, (_match, name: string) => {
    const value = parameters[name]
    if (value === undefined) throw new Error(`the sample data have no ${name}, which the path ${path} needs`)
    return value
  })
}

function orgPicture(path: string, amount: keyof SampleData['orgs']): Picture {
  const name = pictureName('console', path || '/start')
  return {
    name: amount === 'little' ? name : `${name}-${amount}-data`,
    url: (data) => `${data.app.url}/console/${data.orgs[amount]}/test${fillPath(path, data)}`,
    signedIn: 'owner',
    needsMuchData: amount === 'much',
  }
}

function otherConsolePicture(section: 'operator' | 'account', path: string): Picture {
  return {
    name: pictureName(section, path || (section === 'operator' ? '/start' : '')),
    url: (data) => `${data.app.url}/console/${section}${fillPath(path, data)}`,
    signedIn: 'operator',
  }
}

const publicPicture = (name: string, path: string, prepare?: Picture['prepare']): Picture => ({
  name,
  url: ({ app }) => app.url + path,
  ...(prepare ? { prepare } : {}),
})

const linkPicture = (name: keyof SampleData['links'], prepare?: Picture['prepare'], suffix = ''): Picture => ({
  name: name + suffix,
  url: ({ links }) => links[name],
  ...(prepare ? { prepare } : {}),
})

/** Every page of the product, in its main states. */
export const pictures: Picture[] = [
  publicPicture('front', '/'),
  publicPicture('docs', '/docs'),
  publicPicture('docs-guide', '/docs/guides/run-a-campaign'),
  publicPicture('docs-search', '/docs/search?q=retry'),
  publicPicture('docs-try', '/docs/try'),
  publicPicture('docs-api', '/docs/api/'),
  publicPicture('docs-api-mandates', '/docs/api/partner/job-mandates'),
  publicPicture('error-docs', '/docs/nothing'),
  publicPicture('error-not-found', '/nothing'),
  publicPicture('error-review', '/verify/SV_01KKDS3Q50C7Y1M6T2R8K4X9W3'),
  publicPicture('error-session', '/session#token=wrong'),
  publicPicture('error-report', '/shared-reports/wrong'),
  publicPicture('error-credential', '/credentials/wrong'),
  publicPicture('sign-in', '/console'),
  publicPicture('check-credential', '/credentials/verify'),
  linkPicture('candidate'),
  linkPicture('candidate-hindi'),
  linkPicture('candidate-question'),
  linkPicture('candidate-closed'),
  linkPicture('student-notice'),
  linkPicture('student-skills'),
  linkPicture('student-method'),
  linkPicture('student-assessment'),
  linkPicture('student-result'),
  linkPicture('reviewer'),
  linkPicture('your-data'),
  linkPicture('credential'),
  linkPicture('credential', (page) => page.getByRole('button', { name: /wallet/i }).click(), '-wallet'),
  linkPicture('my-credentials'),
  linkPicture('report'),
  linkPicture('embed', async (page) => {
    const frame = page.frameLocator('attestry-embed iframe')
    await frame.getByText('What this shows').waitFor()
    await page.getByText('Please answer the questions.').waitFor()
  }),
  ...Object.keys(pages!).map((path) => orgPicture(path, 'little')),
  ...Object.keys(pages!)
    .filter((path) => !path.includes(':'))
    .map((path) => orgPicture(path, 'none')),
  ...LONG_PATHS.map((path) => orgPicture(path, 'much')),
  ...Object.keys(operatorPages!).map((path) => otherConsolePicture('operator', path)),
  ...Object.keys(accountPages!).map((path) => otherConsolePicture('account', path)),
]
