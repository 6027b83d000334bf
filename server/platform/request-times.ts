import type { Histogram, Registry } from 'prom-client'

/** Upper bounds in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const COUNT = BOUNDS.length
const SUM = COUNT + 1

/**
 * How long requests took, by method, route and status: a histogram for the metrics. The library's own finds its counts by a text that
 * it writes of the labels for every request, which takes longer than checking what the request asks for.
 */
export class RequestTimes {
  readonly name = 'attestry_http_request_duration_seconds'
  readonly help = 'Requests by method, route and status, with the time they took.'
  /** By route, status and method: how many took longer than the bound before and no longer than each, how many in all, and their sum. */
  readonly #routes = new Map<string, Map<number, Map<string, Float64Array>>>()

  constructor(registry: Registry) {
    // The registry asks a metric for its name and its values alone.
    registry.registerMetric(this as unknown as Histogram)
  }

  observe(method: string, route: string, status: number, seconds: number): void {
    const times = this.#routes.get(route)?.get(status)?.get(method) ?? this.#begin(method, route, status)
    let bucket = 0
    while (bucket < COUNT && seconds > BOUNDS[bucket]!) bucket++
    if (bucket < COUNT) times[bucket]!++
    times[COUNT]!++
    times[SUM]! += seconds
  }

  async get() {
    const values: { metricName: string; labels: Record<string, string | number>; value: number }[] = []
    for (const [route, statuses] of this.#routes)
      for (const [status, methods] of statuses)
        for (const [method, times] of methods) {
          const labels = { method, route, status }
          let total = 0
          for (const [i, bound] of BOUNDS.entries()) {
            total += times[i]!
            values.push({ metricName: `${this.name}_bucket`, labels: { le: bound, ...labels }, value: total })
          }
          values.push({ metricName: `${this.name}_bucket`, labels: { le: '+Inf', ...labels }, value: times[COUNT]! })
          values.push({ metricName: `${this.name}_sum`, labels, value: times[SUM]! })
          values.push({ metricName: `${this.name}_count`, labels, value: times[COUNT]! })
        }
    return { name: this.name, help: this.help, type: 'histogram', aggregator: 'sum', values }
  }

  #begin(method: string, route: string, status: number): Float64Array {
    const statuses = this.#routes.get(route) ?? new Map<number, Map<string, Float64Array>>()
    this.#routes.set(route, statuses)
    const methods = statuses.get(status) ?? new Map<string, Float64Array>()
    statuses.set(status, methods)
    const times = new Float64Array(SUM + 1)
    methods.set(method, times)
    return times
  }
}
