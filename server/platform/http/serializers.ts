import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySchemaCompiler } from 'fastify'

type Serializer = (response: unknown) => string
type Compiler = (route: Parameters<FastifySchemaCompiler<unknown>>[0]) => Serializer

/**
 * Compiles the serializer of a response schema at its first response. Compiling one takes milliseconds, and a server has hundreds:
 * this makes the start faster.
 */
export function lazySerializers(): Compiler {
  const compile = SerializerSelector()() as unknown as Compiler
  return (route) => {
    let serializer: Serializer | undefined
    return (response) => {
      serializer ??= compile(route)
      return serializer(response)
    }
  }
}
