/**
 * Measures the detection of planted rings in a synthetic graph of endorsements between 50,000 people. The scores and the threshold of
 * the detection were tuned on the tuning seeds only; the held-out seeds were measured afterwards. The last rows repeat the measurement
 * with an assumption changed, without tuning anything.
 */
import { detectRings } from '../server/verification/endorsements/ring-detection.ts'
import { createEndorsementGraph, type DetectionQuality, measureDetection } from '../test/support/endorsement-graph.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'

const MEASUREMENTS: { name: string; seeds: number[]; options?: object }[] = [
  { name: 'tuning seeds', seeds: [1, 2, 3, 4] },
  { name: 'held-out seeds', seeds: [101, 102, 103, 104, 105] },
  { name: 'held-out, careful rings', seeds: [201, 202], options: { carelessness: 0 } },
  { name: 'held-out, twice as many endorsements with outsiders', seeds: [203, 204], options: { maxCamouflage: 8 } },
  { name: 'held-out, honest reciprocity 50 %', seeds: [205, 206], options: { reciprocity: 0.5 } },
]

/** Larger graphs, to show how the time grows. */
const LARGE_GRAPH_PEOPLE = 200_000

const QUALITY_NAMES: Record<keyof DetectionQuality, string> = {
  memberPrecision: 'precision of people',
  memberRecall: 'recall of people',
  ringPrecision: 'precision of rings',
  ringRecall: 'recall of rings',
}

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const people = short ? 5000 : 50_000
  const rows: BenchmarkRow[] = []
  for (const { name, seeds, options } of MEASUREMENTS) {
    const results: DetectionQuality[] = []
    let edgeCount = 0
    let cpuMicroseconds = 0
    for (const seed of short ? seeds.slice(0, 1) : seeds) {
      const { edges, rings } = createEndorsementGraph({ seed, people, ...options })
      const usedBefore = process.cpuUsage()
      const found = await detectRings(edges)
      cpuMicroseconds += process.cpuUsage(usedBefore).user
      edgeCount += edges.length
      results.push(
        measureDetection(
          found.map(({ members }) => members),
          rings,
        ),
      )
    }
    const seedNote = `${results.length} graphs of ${people} people, ${Math.round(edgeCount / results.length)} endorsements`
    for (const [key, label] of Object.entries(QUALITY_NAMES)) {
      const values = results.map((result) => result[key as keyof DetectionQuality])
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      rows.push({
        name: `${name}: ${label}`,
        value: Math.round(mean * 1000) / 1000,
        unit: '',
        note: `${seedNote}; lowest ${Math.min(...values).toFixed(3)}`,
      })
    }
    const cpuMs = cpuMicroseconds / 1000 / results.length
    rows.push({ name: `${name}: CPU time per graph`, value: Math.round(cpuMs), unit: 'ms' })
  }
  if (!short) {
    const { edges } = createEndorsementGraph({ seed: 301, people: LARGE_GRAPH_PEOPLE })
    const usedBefore = process.cpuUsage()
    await detectRings(edges)
    const cpuMs = Math.round(process.cpuUsage(usedBefore).user / 1000)
    const note = `${LARGE_GRAPH_PEOPLE} people, ${edges.length} endorsements`
    rows.push({ name: 'CPU time of a large graph', value: cpuMs, unit: 'ms', note })
  }
  return rows
}

if (import.meta.main) await runFromCommandLine('endorsement rings', runBenchmark)
