import { run as analytics } from './analytics.ts'
import { run as campaignSimulator } from './campaign-simulator.ts'
import { run as consoleLists } from './console-lists.ts'
import { run as enrolment } from './enrolment.ts'
import { run as http } from './http.ts'
import { run as mandates } from './mandates.ts'
import { run as pages } from './pages.ts'
import { run as frontDoor } from './partner-guards.ts'
import { run as rateLimits } from './rate-limits.ts'
import { run as skillExtract } from './skill-extract.ts'
import { run as skillQuality } from './skill-quality.ts'
import { run as skillRoute } from './skill-route.ts'
import { run as skillSearch } from './skill-search.ts'
import { run as startUp } from './start-up.ts'
import { printRows, type Row } from './support/rows.ts'
import { run as verificationSessions } from './verification-sessions.ts'
import { run as webhookDelivery } from './webhook-delivery.ts'

// npm run bench                 all of them
// npm run bench -- http         one
// npm run bench -- --json       the figures as JSON
const benches: Record<string, () => Promise<Row[]>> = {
  'start-up': startUp,
  http,
  'front-door': frontDoor,
  'rate-limits': rateLimits,
  mandates,
  'skill-search': skillSearch,
  'skill-extract': skillExtract,
  'skill-quality': skillQuality,
  'skill-route': skillRoute,
  enrolment,
  'campaign-simulator': campaignSimulator,
  analytics,
  'verification-sessions': verificationSessions,
  'webhook-delivery': webhookDelivery,
  pages,
  'console-lists': consoleLists,
}

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = wanted.filter((name) => !benches[name])
if (unknown.length > 0) {
  console.error(`there is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`)
  process.exit(1)
}
const all: Record<string, Row[]> = {}
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.error(`running ${name}…`)
  all[name] = await bench()
  if (!process.argv.includes('--json')) printRows(name, all[name])
}
if (process.argv.includes('--json')) console.log(JSON.stringify(all, null, 2))
process.exit(0)
