import { createRequire } from 'node:module'
import type { FastifySchemaCompiler } from 'fastify'

type Serializer = (answer: unknown) => string
type Compiler = (route: Parameters<FastifySchemaCompiler<unknown>>[0]) => Serializer

/** Fastify's own, which it does not hand out. */
const fastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
const buildCompiler = fastify('@fastify/fast-json-stringify-compiler')()

/**
 * Answers are written by functions that are made from their schemas. Making one takes milliseconds, and there are hundreds:
 * each is made when its route first answers, so that a server is up quickly.
 */
export function lazySerializers(): Compiler {
  const compile: Compiler = buildCompiler()
  return (route) => {
    let serializer: Serializer | undefined
    return (answer) => {
      serializer ??= compile(route)
      return serializer(answer)
    }
  }
}
