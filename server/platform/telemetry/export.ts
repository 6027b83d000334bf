// Loaded only if an endpoint is configured, so that other processes do not load OpenTelemetry.
import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Registry } from 'prom-client'
import type { Log } from '../log.ts'
import { createMetricProducer } from './metric-producer.ts'
import type { Telemetry, TelemetrySettings, Trace } from './trace.ts'

const SCOPE_NAME = 'attestry'
const TRACEPARENT_PATTERN = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const MAX_QUERY_LENGTH = 2000
const EXPORT_TIMEOUT_MS = 10_000
const ERROR_LOG_INTERVAL_MS = 60_000

export interface TelemetryOptions {
  settings: TelemetrySettings
  version: string
  registry: Registry
  log: Log
}

export function openTelemetry({ settings, version, registry, log }: TelemetryOptions): Telemetry {
  const { endpoint, headers, serviceName, sampleRatio, metricIntervalMs } = settings
  logExportErrors(log)
  const resource = resourceFromAttributes({ 'service.name': serviceName, 'service.version': version })
  const ratioSampler = new TraceIdRatioBasedSampler(sampleRatio)
  const tracerProvider = new TracerProvider({
    resource,
    // Callers choose the sampled flag of their traceparent header, so it does not decide.
    sampler: new ParentBasedSampler({
      root: ratioSampler,
      remoteParentSampled: ratioSampler,
      remoteParentNotSampled: ratioSampler,
    }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: EXPORT_TIMEOUT_MS }),
      }),
    ],
  })
  const meterProvider = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: `${endpoint}/v1/metrics`, headers, timeoutMillis: EXPORT_TIMEOUT_MS }),
        exportIntervalMillis: metricIntervalMs,
        exportTimeoutMillis: Math.min(EXPORT_TIMEOUT_MS, metricIntervalMs),
        metricProducers: [createMetricProducer(registry, resource, SCOPE_NAME)],
      }),
    ],
  })
  const tracer = tracerProvider.getTracer(SCOPE_NAME, version)
  return {
    startRequest: (traceparent) => startTrace(tracer, 'request', SpanKind.SERVER, contextOf(traceparent)),
    startJob: (queue) => startTrace(tracer, `job ${queue}`, SpanKind.CONSUMER, ROOT_CONTEXT),
    async close() {
      await Promise.allSettled([tracerProvider.shutdown(), meterProvider.shutdown()])
      diag.disable()
    },
  }
}

function startTrace(tracer: Tracer, name: string, kind: SpanKind, parent: Context): Trace {
  const span = tracer.startSpan(name, { kind }, parent)
  const context = trace.setSpan(parent, span)
  return {
    traceId: span.spanContext().traceId,
    addQuery({ sql, milliseconds, error }) {
      if (!span.isRecording()) return
      const endTime = Date.now()
      const operation = /^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? 'QUERY'
      const query = tracer.startSpan(
        operation,
        {
          kind: SpanKind.CLIENT,
          startTime: endTime - milliseconds,
          // Values are parameters and not part of the text.
          attributes: { 'db.system.name': 'postgresql', 'db.query.text': sql.slice(0, MAX_QUERY_LENGTH) },
        },
        context,
      )
      if (error !== undefined) query.setStatus({ code: SpanStatusCode.ERROR })
      query.end(endTime)
    },
    end({ name, attributes = {}, failed }) {
      if (name !== undefined) span.updateName(name)
      span.setAttributes(attributes)
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/** Returns the context of the caller's span, or an empty one if the header is missing or malformed. */
function contextOf(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT_PATTERN.exec(traceparent ?? '') ?? []
  if (!traceId || !spanId || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags!, 16) & 1,
    isRemote: true,
  })
}

/** Logs failed exports, at most one per minute: a collector that is down must not fill the log. */
function logExportErrors(log: Log): void {
  let loggedAt = Number.NEGATIVE_INFINITY
  const ignore = () => {}
  const report = (message: string) => {
    const now = performance.now()
    if (now - loggedAt < ERROR_LOG_INTERVAL_MS) return
    loggedAt = now
    log.warn({ reason: message.slice(0, 500) }, 'exporting traces or metrics failed; check the collector')
  }
  diag.setLogger(
    { error: report, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  )
}
