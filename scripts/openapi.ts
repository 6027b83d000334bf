import { readFile, writeFile } from 'node:fs/promises'
import { describeApis } from '../server/openapi/describe.ts'
import { findBreakingChanges, reduceDescription } from './openapi-compatibility.ts'

// Generates openapi/*.json from the routes of the server.
//   --check     fails if the files are out of date, or if a change since the last release can break clients
//   --release   also stores the descriptions in openapi/released/, with which later versions are compared, and empties the list of
//               accepted changes

interface AcceptedChange {
  api: string
  /** The change as --check prints it. */
  change: string
  reason: string
}

/** Changes since the last release that may break clients. Each needs a line in CHANGELOG.md. */
const ACCEPTED_CHANGES_FILE = 'openapi/released/accepted-changes.json'
const acceptedChangesFile = new URL(`../${ACCEPTED_CHANGES_FILE}`, import.meta.url)

const isCheck = process.argv.includes('--check')
const isRelease = process.argv.includes('--release')
if (isRelease) await writeFile(acceptedChangesFile, '[]\n')
const acceptedChanges: AcceptedChange[] = JSON.parse(await readFile(acceptedChangesFile, 'utf8'))
const unusedChanges = new Set(acceptedChanges)

for (const [apiName, description] of Object.entries(await describeApis())) {
  const file = new URL(`../openapi/${apiName}.json`, import.meta.url)
  const releasedFile = new URL(`../openapi/released/${apiName}.json`, import.meta.url)
  const text = `${JSON.stringify(description, null, 2)}\n`
  if (!isCheck) await writeFile(file, text)
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text)
    fail(`openapi/${apiName}.json is not up to date: run npm run openapi and commit it`)
  if (isRelease) await writeFile(releasedFile, `${JSON.stringify(reduceDescription(description), null, 1)}\n`)
  if (!isCheck) continue
  const changes = findBreakingChanges(JSON.parse(await readFile(releasedFile, 'utf8')), description)
  for (const change of changes) {
    const accepted = acceptedChanges.find((each) => each.api === apiName && each.change === change)
    if (accepted) {
      unusedChanges.delete(accepted)
      continue
    }
    fail(
      `${apiName} API: ${change}. Clients of the last release can break: undo it, or add it with a reason to ${ACCEPTED_CHANGES_FILE} and to CHANGELOG.md`,
    )
  }
}
if (isCheck)
  for (const { change } of unusedChanges) fail(`${ACCEPTED_CHANGES_FILE}: "${change}" is no longer found; remove it`)

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}
