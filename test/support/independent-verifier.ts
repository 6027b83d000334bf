import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Result of a verification by `@digitalcredentials/verifier-core`. */
export interface IndependentResult {
  /** Whether all steps passed: signature, validity period, status and schema. */
  accepted: boolean
  hasValidSignature: boolean
  isRevoked: boolean
  /** Errors of the JSON Schema; empty if the credential is valid. */
  schemaErrors: string[]
  error: string | null
}

export interface IndependentVerifier {
  verify(credential: unknown): Promise<IndependentResult>
  close(): void
}

/**
 * Starts the verifier in a process of its own, because the certificate of a test server can be trusted only at the start of a process.
 * `schemaFile` is 1EdTech's JSON Schema; without it, the rules of `open-badge-schema.ts` are used.
 */
export function startIndependentVerifier(certificateFile: string, schemaFile?: string): IndependentVerifier {
  const script = fileURLToPath(new URL('./independent-verifier-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, ...(schemaFile ? [schemaFile] : [])], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: certificateFile },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting: ((result: IndependentResult) => void)[] = []
  createInterface(child.stdout).on('line', (line) => waiting.shift()?.(JSON.parse(line)))
  return {
    verify(credential) {
      const { promise, resolve, reject } = Promise.withResolvers<IndependentResult>()
      waiting.push(resolve)
      child.once('exit', () => reject(new Error('the independent verifier has stopped')))
      child.stdin.write(`${JSON.stringify(credential)}\n`)
      return promise.finally(() => child.removeAllListeners('exit'))
    },
    close: () => void child.kill(),
  }
}
