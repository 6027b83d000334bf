import { spawnSync } from 'node:child_process'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'

/** Measures the CPU time of the partner guards (signature, service switch, limits, scope) for a request with a 2 KB body. */
export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const script = new URL('support/partner-guards-calls.ts', import.meta.url).pathname
  const callCount = short ? 1_000 : 20_000
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, String(callCount)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const { guardsOnly, withParsing } = JSON.parse(stdout) as { guardsOnly: number; withParsing: number }
  return [
    {
      name: 'signature, service switch, limits and scope, 2 KB body',
      value: guardsOnly,
      unit: 'µs of CPU per call',
      note: 'target: at most 60',
    },
    { name: 'the same, and parsing the body as JSON', value: withParsing, unit: 'µs of CPU per call' },
  ]
}

if (import.meta.main) await runFromCommandLine('partner-guards', runBenchmark)
