import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySchemaCompiler } from 'fastify'

type Serializer = (response: unknown) => string
type SerializerCompiler = (route: Parameters<FastifySchemaCompiler<unknown>>[0]) => Serializer

/**
 * Returns a compiler that compiles the serializer of a response schema at its first response. Compiling a serializer takes
 * milliseconds, and a server has hundreds: this makes the start faster.
 */
export function createLazySerializers(): SerializerCompiler {
  const compile = SerializerSelector()() as unknown as SerializerCompiler
  return (route) => {
    let serializer: Serializer | undefined
    return (response) => {
      serializer ??= compile({ ...route, schema: withNullable(route.schema) })
      return serializer(response)
    }
  }
}

/**
 * Replaces `anyOf` of a schema and null with `nullable`. For `anyOf`, the compiled serializer validates each value with Ajv to select
 * the schema, which took half of the time of serializing a list of results.
 */
function withNullable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNullable)
  if (typeof schema !== 'object' || schema === null) return schema
  const { anyOf, ...others } = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, withNullable(value)]),
  )
  if (!Array.isArray(anyOf)) return { ...others, ...(anyOf === undefined ? {} : { anyOf }) }
  const [first, second] = anyOf.filter((each) => each?.type !== 'null')
  if (anyOf.length !== 2 || second !== undefined || first === undefined) return { ...others, anyOf }
  if (isTextEnum(first)) return { ...others, type: 'string', enum: [...first.enum, null], nullable: true }
  // Ajv, which selects between other schemas that contain this one, requires a type, and rejects null as a constant.
  if (typeof first.type !== 'string' || 'const' in first || 'enum' in first) return { ...others, anyOf }
  return { ...others, ...first, nullable: true }
}

function isTextEnum(schema: object): schema is { enum: string[] } {
  return 'enum' in schema && Array.isArray(schema.enum) && schema.enum.every((value) => typeof value === 'string')
}
