import { readFile, writeFile } from 'node:fs/promises'
import { describeApis } from '../server/openapi/describe.ts'

// Generates openapi/*.json from the routes of the server. With --check, fails if the files are out of date.
const isCheck = process.argv.includes('--check')
for (const [apiName, description] of Object.entries(await describeApis())) {
  const file = new URL(`../openapi/${apiName}.json`, import.meta.url)
  const text = `${JSON.stringify(description, null, 2)}\n`
  if (!isCheck) await writeFile(file, text)
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    console.error(`openapi/${apiName}.json is not up to date: run npm run openapi and commit it`)
    process.exitCode = 1
  }
}
