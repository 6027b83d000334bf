/** A request or a job whose duration and queries are exported as spans of a trace. */
export interface Trace {
  /** 32 hexadecimal digits, which join the spans with log lines. */
  readonly traceId: string
  /** Adds a query that has just ended. */
  addQuery(query: { sql: string; milliseconds: number; error?: unknown }): void
  end(outcome: { name?: string; attributes?: Record<string, string | number>; failed: boolean }): void
}

/** Exports traces and metrics. Undefined in a process for which no endpoint is configured. */
export interface Telemetry {
  /** Starts the trace of a request. Continues the caller's trace if the request has a `traceparent` header. */
  startRequest(traceparent: string | undefined): Trace
  startJob(queue: string): Trace
  /** Exports what is not exported yet. */
  close(): Promise<void>
}

export interface TelemetrySettings {
  /** Base URL of a collector that accepts OTLP over HTTP: `/v1/traces` and `/v1/metrics` are added. */
  endpoint: string
  headers: Record<string, string>
  serviceName: string
  /** Share of traces that are exported, from 0 to 1. */
  sampleRatio: number
  metricIntervalMs: number
}
