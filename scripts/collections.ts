import { glob, rm } from 'node:fs/promises'
import { brunoCollection } from './collections/bruno.ts'
import { postmanCollection } from './collections/postman.ts'
import { readRequests } from './collections/requests.ts'
import { writeOrCheck } from './generated-files.ts'

// Generates the Postman and Bruno collections in collections/ from openapi/*.json. With --check, fails if a file is out of date.

const { folders, pathVariables } = readRequests()
const files: Record<string, string> = {
  'collections/attestry.postman_collection.json': `${JSON.stringify(postmanCollection(folders, pathVariables), null, 2)}\n`,
}
for (const [path, text] of Object.entries(brunoCollection(folders, pathVariables)))
  files[`collections/bruno/${path}`] = text
for (const [path, text] of Object.entries(files)) await writeOrCheck(path, text, 'collections')

// Every operation has a file: remove the files of operations that no longer exist.
for await (const path of glob('collections/**/*.{bru,json}')) {
  if (files[path]) continue
  if (!process.argv.includes('--check')) await rm(path)
  else {
    console.error(`${path} is no longer generated: run npm run collections and commit the change`)
    process.exitCode = 1
  }
}
