import { readFile, writeFile } from 'node:fs/promises'
import { describeApis } from '../server/openapi.ts'

// Writes openapi/*.json from the routes. With --check, fails if the files are not up to date.
const check = process.argv.includes('--check')
for (const [name, description] of Object.entries(await describeApis())) {
  const file = new URL(`../openapi/${name}.json`, import.meta.url)
  const text = `${JSON.stringify(description, null, 2)}\n`
  if (!check) await writeFile(file, text)
  else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    console.error(`openapi/${name}.json is not up to date: run npm run openapi and commit it`)
    process.exitCode = 1
  }
}
