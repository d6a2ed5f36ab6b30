// A program for a runtime that has nothing but the web's own functions. `smartspace` is the bundled
// client, `settings` says where the product is. Its last line is its result.

(async () => {
  const { url, token, spaceId } = settings;
  const client = smartspace.createClient({ url, token });
  const space = client.space(spaceId);
  const states = [];
  const read = () =>
    space.timeline
      .getSnapshot()
      .items.flatMap(({ type, message }) => (type === 'message' ? message.parts[0].text : []));
  let look = () => {};
  const stops = [
    space.timeline.subscribe(() => look()),
    client.connection.subscribe(() => states.push(client.connection.getSnapshot().state)),
  ];
  const sent = await space.send('Hello from the edge');
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`only ${read()} came`)), 15_000);
    look = () => {
      if (read().length < 2) return;
      clearTimeout(timer);
      resolve();
    };
    look();
  });
  stops.forEach((stop) => stop());
  const error = await client.request('GET', '/v1/spaces/spc_0').catch((reason) => reason);
  const isKnown = error instanceof smartspace.SmartspaceError;
  const isLive = states.includes('live');
  return {
    seq: sent.seq,
    texts: read(),
    isLive,
    status: isKnown && error.status,
  };
})();
