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
      serializer ??= compile(route)
      return serializer(response)
    }
  }
}
