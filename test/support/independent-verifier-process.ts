import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { verifyCredential } from '@digitalcredentials/verifier-core'
import type { IndependentResult } from './independent-verifier.ts'
import { openBadgeSchema } from './open-badge-schema.ts'

// Verifies the credentials on the standard input, one JSON text per line, and prints one result per line.

/** The log of a verification, as far as it is used here. */
interface VerifierResponse {
  errors?: { name: string; message: string }[]
  log?: { id: string; valid: boolean }[]
  additionalInformation?: {
    id: string
    results: { result: { valid: boolean; errors?: { instancePath: string; message: string }[] } }[]
  }[]
}

const [schemaFile] = process.argv.slice(2)
const schema = schemaFile ? readFileSync(schemaFile, 'utf8') : JSON.stringify(openBadgeSchema)

// The verifier fetches 1EdTech's schema from the network, which tests must not use.
const realFetch = globalThis.fetch
globalThis.fetch = async (input, init) => {
  const url = String(input instanceof Request ? input.url : input)
  return url.startsWith('https://purl.imsglobal.org/') ? new Response(schema) : realFetch(input, init)
}
// The verifier logs to the console, and the standard output has only results.
console.log = () => {}

for await (const line of createInterface(process.stdin)) {
  const response = (await verifyCredential({
    credential: JSON.parse(line),
    knownDIDRegistries: [],
  })) as unknown as VerifierResponse
  process.stdout.write(`${JSON.stringify(summarise(response))}\n`)
}

function summarise({ errors, log = [], additionalInformation = [] }: VerifierResponse): IndependentResult {
  const stepResult = (id: string) => log.find((entry) => entry.id === id)?.valid
  const schemaResults = additionalInformation.find(({ id }) => id === 'schema_check')?.results ?? []
  const hasValidSignature = stepResult('valid_signature') === true
  const schemaErrors = schemaResults.flatMap(({ result }) =>
    (result.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`),
  )
  const isRevoked = stepResult('revocation_status') === false
  return {
    accepted:
      hasValidSignature &&
      stepResult('expiration') !== false &&
      stepResult('revocation_status') === true &&
      schemaResults.length > 0 &&
      schemaErrors.length === 0,
    hasValidSignature,
    isRevoked,
    schemaErrors,
    error: errors?.map(({ name, message }) => `${name}: ${message}`).join('; ') ?? null,
  }
}
