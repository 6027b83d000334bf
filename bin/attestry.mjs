#!/usr/bin/env node
import { handOver, install } from '../scripts/launch.mjs'

await install({ dev: false })
await handOver('cli/main.ts', process.argv.slice(2))
