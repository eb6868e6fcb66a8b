/** The variables in which programs expect a proxy, in all usual spellings. Loopback needs no proxy. */
export const proxyVariables = (url: string): Record<string, string> => ({
  HTTP_PROXY: url,
  HTTPS_PROXY: url,
  http_proxy: url,
  https_proxy: url,
  NO_PROXY: LOCAL,
  no_proxy: LOCAL,
})
const LOCAL = 'localhost,127.0.0.1,::1'
