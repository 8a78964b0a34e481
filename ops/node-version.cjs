// Stops with one line when this Node cannot run the sources. Plain JavaScript, so that an old Node can read it.
'use strict'
var needed = require('../package.json').engines.node.replace('>=', '')

// True from 22.18 on: the sources are TypeScript and run without a build.
if (!process.features.typescript) {
  console.error('Touchline needs Node ' + needed + ' or newer; this is ' + process.version + ': https://nodejs.org')
  process.exit(1)
}
