import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySchemaCompiler } from 'fastify'

type Serializer = (answer: unknown) => string
type Compiler = (route: Parameters<FastifySchemaCompiler<unknown>>[0]) => Serializer

/**
 * Answers are written by functions that are made from their schemas. Making one takes milliseconds, and there are hundreds:
 * each is made when its route first answers, so that a server is up quickly.
 */
export function lazySerializers(): Compiler {
  const compile = SerializerSelector()() as unknown as Compiler
  return (route) => {
    let serializer: Serializer | undefined
    return (answer) => {
      serializer ??= compile(route)
      return serializer(answer)
    }
  }
}
