/** Arithmetic formulas of the calculations in the question bank: numbers, variables, `+ - * /` and parentheses. */

export type Variables = Readonly<Record<string, number>>
export type Formula = (variables: Variables) => number

const TOKEN_PATTERN = /\s*(?:(\d+(?:\.\d+)?)|([a-z]\w*)|([-+*/()]))/gy

/** Parses a formula, and throws an error with the reason if it is not valid. */
export function parseFormula(text: string): Formula {
  const tokens = tokensOf(text)
  let position = 0
  const formula = parseSum()
  if (position < tokens.length) throw new Error(`unexpected "${tokens[position]}" in the formula "${text}"`)
  return formula

  function parseSum(): Formula {
    let left = parseProduct()
    for (let operator = tokens[position]; operator === '+' || operator === '-'; operator = tokens[position]) {
      position++
      const [first, second] = [left, parseProduct()]
      left = operator === '+' ? (v) => first(v) + second(v) : (v) => first(v) - second(v)
    }
    return left
  }

  function parseProduct(): Formula {
    let left = parseFactor()
    for (let operator = tokens[position]; operator === '*' || operator === '/'; operator = tokens[position]) {
      position++
      const [first, second] = [left, parseFactor()]
      left = operator === '*' ? (v) => first(v) * second(v) : (v) => first(v) / second(v)
    }
    return left
  }

  function parseFactor(): Formula {
    const token = tokens[position++]
    if (token === undefined) throw new Error(`the formula "${text}" is incomplete`)
    if (token === '-') {
      const factor = parseFactor()
      return (v) => -factor(v)
    }
    if (token === '(') {
      const sum = parseSum()
      if (tokens[position++] !== ')') throw new Error(`a closing parenthesis is missing in the formula "${text}"`)
      return sum
    }
    if (/^\d/.test(token)) {
      const number = Number(token)
      return () => number
    }
    if (/^[a-z]/.test(token)) return (variables) => variableValue(variables, token)
    throw new Error(`unexpected "${token}" in the formula "${text}"`)
  }
}

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  let end = 0
  for (const match of text.trimEnd().matchAll(TOKEN_PATTERN)) {
    tokens.push(match[1] ?? match[2] ?? match[3]!)
    end = match.index + match[0].length
  }
  if (end < text.trimEnd().length) throw new Error(`unexpected "${text.slice(end).trim()}" in the formula "${text}"`)
  return tokens
}

function variableValue(variables: Variables, name: string): number {
  const value = variables[name]
  if (value === undefined) throw new Error(`the variable ${name} has no values`)
  return value
}
