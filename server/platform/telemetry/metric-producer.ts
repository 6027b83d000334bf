import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { MetricObjectWithValues, MetricValue, MetricValueWithName, Registry } from 'prom-client'

/** Returns a producer of the metrics of `/metrics`, with the same names and labels. */
export function createMetricProducer(registry: Registry, resource: Resource, scopeName: string): MetricProducer {
  const startTime = hrTime(Date.now() - process.uptime() * 1000)
  return {
    async collect() {
      const endTime = hrTime(Date.now())
      const metrics = (await registry.getMetricsAsJSON()) as MetricObjectWithValues<MetricValue<string>>[]
      return {
        resourceMetrics: {
          resource,
          scopeMetrics: [
            {
              scope: { name: scopeName },
              metrics: metrics.flatMap((metric) => convertMetric(metric, startTime, endTime) ?? []),
            },
          ],
        },
        errors: [],
      }
    },
  }
}

function convertMetric(
  { name, help, type, values }: MetricObjectWithValues<MetricValue<string>>,
  startTime: HrTime,
  endTime: HrTime,
): MetricData | undefined {
  const base = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const points = () =>
    values.map(({ labels, value }) => ({ startTime, endTime, attributes: labels as Attributes, value }))
  // prom-client declares the types as an enum of numbers, and returns their names.
  switch (String(type)) {
    case 'counter':
      return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }
    case 'gauge':
      return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: points() }
    case 'histogram':
      return {
        ...base,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: convertHistogram(name, values as MetricValueWithName<string>[], startTime, endTime),
      }
    default:
      return undefined
  }
}

/** Groups the values of a histogram by their labels. Prometheus counts the values up to each boundary, OTLP those between two boundaries. */
function convertHistogram(
  name: string,
  values: MetricValueWithName<string>[],
  startTime: HrTime,
  endTime: HrTime,
): DataPoint<Histogram>[] {
  const groups = new Map<
    string,
    { attributes: Attributes; cumulative: [number, number][]; sum: number; count: number }
  >()
  for (const { labels, value, metricName } of values) {
    const { le, ...attributes } = labels as Record<string, string | number>
    const key = JSON.stringify(Object.entries(attributes).sort())
    const group = groups.get(key) ?? { attributes, cumulative: [], sum: 0, count: 0 }
    groups.set(key, group)
    if (metricName === `${name}_sum`) group.sum = value
    else if (metricName === `${name}_count`) group.count = value
    else if (le !== '+Inf') group.cumulative.push([Number(le), value])
  }
  return [...groups.values()].map(({ attributes, cumulative, sum, count }) => {
    cumulative.sort(([a], [b]) => a - b)
    const totals = [...cumulative.map(([, total]) => total), count]
    return {
      startTime,
      endTime,
      attributes,
      value: {
        buckets: {
          boundaries: cumulative.map(([boundary]) => boundary),
          counts: totals.map((total, index) => total - (totals[index - 1] ?? 0)),
        },
        sum,
        count,
      },
    }
  })
}

function hrTime(milliseconds: number): HrTime {
  return [Math.floor(milliseconds / 1000), Math.round((milliseconds % 1000) * 1e6)]
}
