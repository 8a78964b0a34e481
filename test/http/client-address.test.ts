import { describe, expect, it } from 'vitest'
import { addressPrefix, clientAddress } from '../../src/http/client-address.ts'

describe('the address of a client', () => {
  it("[H5] is the socket's if no proxy is trusted, whatever the header says", () => {
    expect(clientAddress({ peer: '203.0.113.7', forwardedFor: '198.51.100.1' }, 0)).toBe('203.0.113.7')
    expect(clientAddress({ peer: undefined, forwardedFor: '198.51.100.1' }, 0)).toBe('unknown')
  })

  it('[H5] is the one that the outermost trusted proxy saw', () => {
    const forwardedFor = '6.6.6.6, 198.51.100.1 , 10.0.0.2'
    expect(clientAddress({ peer: '10.0.0.1', forwardedFor }, 1)).toBe('10.0.0.2')
    expect(clientAddress({ peer: '10.0.0.1', forwardedFor }, 2)).toBe('198.51.100.1')
    // Fewer hops than proxies: the request came in behind the outer ones.
    expect(clientAddress({ peer: '10.0.0.1', forwardedFor: '198.51.100.1' }, 3)).toBe('198.51.100.1')
    expect(clientAddress({ peer: '10.0.0.1', forwardedFor: undefined }, 1)).toBe('10.0.0.1')
  })

  it("[H5] is the socket's if the header has no valid address", () => {
    for (const forwardedFor of ['', ' ', 'unknown', '_hidden', '1.2.3', '1.2.3.4.5', 'evil"; r=1', '[::1', ',']) {
      expect(clientAddress({ peer: '10.0.0.1', forwardedFor }, 1), forwardedFor).toBe('10.0.0.1')
    }
  })

  it('[H5] has its port and brackets removed', () => {
    const same = [
      '203.0.113.7',
      '203.0.113.7:4711',
      '::ffff:203.0.113.7',
      '::FFFF:203.0.113.7',
      '[::ffff:203.0.113.7]:80',
    ]
    for (const forwardedFor of same) {
      expect(clientAddress({ peer: '10.0.0.1', forwardedFor }, 1), forwardedFor).toBe('203.0.113.7')
    }
  })

  it('[H5] is the /64 of an IPv6 address, in any spelling', () => {
    const same = [
      '2001:db8:1:2::1',
      '2001:DB8:1:2:ffff:0:0:9',
      '[2001:0db8:0001:0002::]:443',
      '2001:db8:1:2:0:0:1.2.3.4',
    ]
    for (const peer of same) expect(clientAddress({ peer, forwardedFor: undefined }, 0), peer).toBe('2001:db8:1:2::/64')
    const cases = { '2001:db8:1:3::1': '2001:db8:1:3::/64', '::1': '0:0:0:0::/64', 'fe80::1%eth0': 'fe80:0:0:0::/64' }
    for (const [peer, network] of Object.entries(cases)) {
      expect(clientAddress({ peer, forwardedFor: undefined }, 0), peer).toBe(network)
    }
  })
})

it('keeps the network of an address where the whole must not be kept', () => {
  const cases = {
    '203.0.113.77': '203.0.113.0/24',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1::/48',
    '::1': '0:0:0::/48',
    '::ffff:10.1.2.3': '10.1.2.0/24',
    nonsense: 'unknown',
  }
  for (const [peer, kept] of Object.entries(cases)) {
    expect(addressPrefix(clientAddress({ peer, forwardedFor: undefined }, 0)), peer).toBe(kept)
  }
})
