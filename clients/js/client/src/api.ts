// Generated from docs/reference/openapi.json by `npm run types` in clients/js.

export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the service answers
         * @description Needs no credential, and reads nothing from the table.
         */
        get: operations["showHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show this description
         * @description It is generated from the code that serves the API.
         */
        get: operations["showDescription"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schemas/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the schema of a file
         * @description A JSON Schema (2020-12) of a file that `smartspace apply` reads, for editors.
         */
        get: operations["showSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/approvals/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview what a call needs
         * @description Says what the agent's rules and allowances would do with a call. Nothing is called, stored or
         *     asked.
         */
        post: operations["previewApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/card": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what an open agent says of itself
         * @description Any entity may read this, so that it can bring the agent into a space of its own. Agents that
         *     are not `open` are 404 to entities.
         */
        get: operations["showAgentCard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of an agent
         * @description Newest first, without payloads. With a filter, a page may hold fewer than `limit` deliveries
         *     although there are more: read on until `nextCursor` is missing.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/deliveries/{deliveryId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay a delivery
         * @description Creates a new delivery with a new run, even if the first delivery triggered nobody. A rejected
         *     delivery can't be replayed, because its payload was not stored.
         */
        post: operations["replayDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/goals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the goals of an agent
         * @description Sorted by id.
         */
        get: operations["listGoals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/goals/{goalId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Create or change a goal of an agent
         * @description A field that is missing or null keeps its value, or gets its default in a new goal. A null
         *     `dueAt` removes the due date. The call may be repeated.
         */
        put: operations["setGoal"];
        post?: never;
        /**
         * Delete a goal of an agent
         * @description The call may be repeated.
         */
        delete: operations["deleteGoal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the memories of an agent
         * @description Sorted by key.
         */
        get: operations["listMemories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/memories/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a memory of an agent
         * @description The call may be repeated.
         */
        put: operations["setMemory"];
        post?: never;
        /**
         * Delete a memory of an agent
         * @description The call may be repeated.
         */
        delete: operations["deleteMemory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the plans of an agent
         * @description Sorted by age.
         */
        get: operations["listPlans"];
        put?: never;
        /**
         * Create a plan of an agent
         * @description A plan needs a name, an instruction and exactly one of `runAfter`, `scheduledAt` and `cron`.
         */
        post: operations["createPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/plans/{planId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change a plan of an agent
         * @description A missing field keeps its value. One of `runAfter`, `scheduledAt` and `cron` sets a new time.
         *     `status` pauses the plan or resumes it. The call may be repeated.
         */
        put: operations["changePlan"];
        post?: never;
        /**
         * Delete a plan of an agent
         * @description The call may be repeated.
         */
        delete: operations["deletePlan"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/plans/{planId}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a plan now
         * @description The plan's own times do not change.
         */
        post: operations["runPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the revisions of an agent
         * @description For the operator. The last 50 are kept, the newest first.
         */
        get: operations["listRevisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/revisions/{revision}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a revision of an agent
         * @description For the operator. With the name and the configuration that the agent had then.
         */
        get: operations["showRevision"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/revisions/{revision}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a revision of an agent
         * @description For the operator. The name and the configuration become those of the revision, with a new
         *     revision. If they are those already, nothing changes.
         */
        post: operations["restoreRevision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of an agent
         * @description Newest first, without steps.
         */
        get: operations["listRunsOfAgent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Trigger an agent on behalf of a service
         * @description For a service that signs its requests, use `/v1/hooks` instead. If the agent can't be triggered,
         *     the payload is stored anyway and `reason` says why.
         */
        post: operations["triggerAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report the usage of an agent
         * @description The agent may be retired.
         */
        get: operations["showUsageOfAgent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/allowances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List remembered approvals
         * @description Of an agent, of a space, or both, by age. Members see those of their spaces, and only the
         *     operator sees those that count everywhere. A page may hold fewer than `limit` allowances
         *     although there are more: read on until `nextCursor` is missing.
         */
        get: operations["listAllowances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/allowances/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a remembered approval
         * @description The agent's calls ask again. The person who made it may do this, people who own its space, and
         *     the operator.
         */
        delete: operations["deleteAllowance"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply files
         * @description For the operator. Makes agents, spaces and plans as files say. A file manages the fields that it
         *     names; a field that left the file returns to its default, and one that it never named is left
         *     alone. All objects are checked first, and nothing is written if one is invalid or was changed by
         *     hand. Then each is written by itself. What fails is reported, and the next apply writes it.
         */
        post: operations["apply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List people and agents
         * @description The oldest comes first. The operator sees all; an entity sees itself and those with whom it
         *     shares a space.
         */
        get: operations["listEntities"];
        put?: never;
        /**
         * Create a person or an agent
         * @description For the operator.
         */
        post: operations["createEntity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a person or an agent
         * @description Only the operator sees the configuration of an agent.
         */
        get: operations["showEntity"];
        put?: never;
        post?: never;
        /**
         * Retire a person or an agent
         * @description The entity leaves its spaces and its runs end. Its messages keep its name.
         */
        delete: operations["retireEntity"];
        options?: never;
        head?: never;
        /**
         * Change a person or an agent
         * @description The body is a JSON merge patch: a field that it names is changed, and null resets a field to its
         *     default. `type` can't be changed.
         */
        patch: operations["changeEntity"];
        trace?: never;
    };
    "/v1/hooks/{agentId}/{service}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a webhook
         * @description The request must be signed as the agent's `webhooks` configure it: Standard Webhooks, GitHub,
         *     Stripe or Slack. The whole body is the payload. A body that is not JSON is stored as text, and
         *     so is JSON with a whole number beyond 64 bits. A repeated delivery gets the answer of the first
         *     one. If the agent can't be triggered, the payload is stored anyway and `reason` says why.
         */
        post: operations["receiveHook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what waits for the caller
         * @description The open forms that the caller may answer, and the calls that it may decide, in all of its
         *     spaces; for the operator, in all spaces. By expiry, soonest first, at most 50 a page. A page
         *     looks at about 1,000 cards, so a page may be empty although there is another one.
         */
        get: operations["listInbox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invites/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invite
         * @description A caller with a credential joins the space; if it is a member already, the invite is not used.
         *     Without a credential, and if the deployment has guests, the caller becomes a person who may only
         *     be in this space. With an `Idempotency-Key` of at least 16 characters a repeat gives the same
         *     guest.
         */
        post: operations["acceptInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invites/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview an invite
         * @description Where the invite leads, before somebody accepts it. It needs no credential and uses nothing. Its
         *     limits are those of accepting.
         */
        post: operations["previewInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the caller
         * @description Who the holder of the credential is, and what it may do.
         */
        get: operations["showMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/mentions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's mentions
         * @description The messages of the last 90 days that mention the caller or reply to it, in all spaces of which
         *     it is a member, newest first. A page may have fewer messages than its limit although there is
         *     another one, because deleted messages are left out. The operator and agents have none.
         */
        get: operations["listMentions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the providers of models
         * @description Agents and routers name one of them. Only the operator's configuration adds providers.
         */
        get: operations["listProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of all agents
         * @description By the time of their trigger, newest first, without steps. A page looks at up to 1,000 runs, so
         *     a page may be empty although there is another one.
         */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a run with its steps
         * @description Only the operator sees the steps. The last one may be under way. If all steps together are
         *     longer than 4 MB, their longest texts are cut and say how much is missing. If that is not
         *     enough, lists and objects are cut as JSON text, and then the prompts of the first steps are left
         *     out.
         */
        get: operations["showRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a run
         * @description Ends an active run. What its model has written so far is stored as a partial message.
         */
        post: operations["cancelRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete a run of a remote agent
         * @description Repeated, it answers with the same run.
         */
        post: operations["completeRemoteRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fork a run
         * @description Makes a dry run that replays the steps before `fromStep` and then asks the model again. It
         *     changes nothing: a call that only reads Smartspace's table is made, and any other is answered
         *     with the result that the same call had in the first run, or with `{"dryRun": true}`. It counts
         *     in usage and budgets, and only the operator sees it.
         */
        post: operations["forkRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Post a message of a remote agent
         * @description At most 100 in a run. Repeated with the same key, it answers with the same message, even after
         *     the run has ended.
         */
        post: operations["postRemoteMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/reactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * React to a message as a remote agent
         * @description A reaction wakes no agent, and counts as an answer. The call may be repeated.
         */
        post: operations["reactAsRemoteAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repeat a run
         * @description Makes a new run for the same trigger, linked by `retryOf`. It has to pass the same limits again.
         *     A run is repeated once: further requests get the run that the first one made. To try again after
         *     that one failed, too, repeat that one.
         */
        post: operations["retryRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show what a remote agent is writing
         * @description At most 5 times a second, and at least once a second as a snapshot, because nothing is stored
         *     and frames may get lost. A message with the same `streamKey` replaces the text.
         */
        post: operations["streamRemoteText"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/toolCalls/{callId}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide a call that waits for approval
         * @description People decide: those whom the rule that stopped the call names. The call is made once enough
         *     people have approved it. Any other decision ends the waiting at once. The same person may repeat
         *     the same decision. The operator decides in the name of the person in `senderId`.
         */
        post: operations["decideToolCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/toolCalls/{callId}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a form
         * @description A form is answered once, and the run continues with the answer. The same person may repeat the
         *     same answer. With the admin key, the operator may answer any form. With `senderId` the answer
         *     comes from that entity, which must be allowed to answer.
         */
        post: operations["answerToolCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search messages
         * @description In the text of messages, the names of their files, and the name, question and answer of cards.
         *     One call reads a limited amount, the newest messages first; `searched` says how much, and
         *     `nextCursor` goes on. Members search their spaces, guests their space, and the operator the
         *     spaces that it names. A caller may search once a second, and ten times at once.
         */
        get: operations["searchMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/socketTickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a ticket for a WebSocket
         * @description The ticket opens one connection and is valid for one minute. With the admin key, `entityId`
         *     chooses the entity that the connection acts as. Without it, the connection may follow every
         *     space.
         */
        post: operations["createSocketTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List spaces
         * @description By activity: the one with the newest message comes first. A space without messages stands where
         *     it was created. The operator sees all spaces, and an entity those that it is in. A space that
         *     gets a message while the pages are read may be on two of them.
         */
        get: operations["listSpaces"];
        put?: never;
        /**
         * Create a space
         * @description An entity that creates a space becomes its first owner.
         */
        post: operations["createSpace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a space
         * @description With its members. Only its owners and the operator see its router and its budget.
         */
        get: operations["showSpace"];
        put?: never;
        post?: never;
        /**
         * Delete a space
         * @description Its messages and files are deleted with it, and its active runs are canceled.
         */
        delete: operations["deleteSpace"];
        options?: never;
        head?: never;
        /**
         * Change a space
         * @description The body is a JSON merge patch: a field that it names is changed, and null resets a field to its
         *     default.
         */
        patch: operations["changeSpace"];
        trace?: never;
    };
    "/v1/spaces/{id}/attachments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the files of a space
         * @description Newest first. Owners and the operator see all files. Others see those that messages name, and
         *     those that they have uploaded. A page may be shorter than `limit` although there is another one.
         */
        get: operations["listAttachments"];
        put?: never;
        /**
         * Start an upload
         * @description The file becomes `ready` once the storage has it with this size, type and hash. A file that no
         *     message names is deleted after 24 hours. From now on the file counts among those of the space
         *     and of the caller, which have limits.
         */
        post: operations["createAttachment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/attachments/{attachmentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a file's state and get an address to download it
         * @description A file that has just been uploaded is checked first.
         */
        get: operations["getAttachment"];
        put?: never;
        post?: never;
        /**
         * Delete a file
         * @description For the entity that uploaded it, the owners of the space and the operator. The messages that
         *     name the file stay and show it as deleted.
         */
        delete: operations["deleteAttachment"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/gate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report what the gate would have done
         * @description Looks at the last 500 messages that have scores, among the last 2,000 of the space. Each dial
         *     counts as without a model.
         */
        get: operations["showGate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/invites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the invites of a space
         * @description Those that have not expired; the oldest comes first. For owners.
         */
        get: operations["listInvites"];
        put?: never;
        /**
         * Invite people to a space
         * @description Everyone who has the token may join, as often as `uses` says. It ends when its maker stops being
         *     an owner.
         */
        post: operations["createInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/invites/{inviteId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an invite
         * @description Nobody can use it any longer, and the guests who came by it leave the space. People who accepted
         *     it with an account stay members. The call may be repeated until the invite would have expired.
         */
        delete: operations["revokeInvite"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/members/{entityId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Add a member, or change its role
         * @description An owner may add people, and agents that are `open`. The call may be repeated.
         */
        put: operations["addMember"];
        post?: never;
        /**
         * Remove a member, or leave a space
         * @description The call may be repeated.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List messages
         * @description Oldest first within a page. At most one of `after`, `before` and `cursor` may be given; without
         *     any, the response is the newest page.
         */
        get: operations["listMessages"];
        put?: never;
        /**
         * Post a message
         * @description `dispatch` in the response lists the agents that the message triggered, and why others were not
         *     triggered.
         */
        post: operations["createMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/messages/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview which agents a message would wake
         * @description The message is not stored.
         */
        post: operations["previewMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/messages/{seq}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a message
         * @description A deleted message is a tombstone: `deleted` is set, and it has no parts.
         */
        get: operations["getMessage"];
        put?: never;
        post?: never;
        /**
         * Delete a message
         * @description For its sender, the owners of the space and the operator. What remains is a tombstone. Runs that
         *     answer nothing else are canceled. Within a minute, the text is also removed from what is stored
         *     of runs that have read it; what people and agents have written themselves stays.
         */
        delete: operations["deleteMessage"];
        options?: never;
        head?: never;
        /**
         * Edit a message
         * @description For its sender. Mentions are found anew; they wake and notify nobody. The old text is stored
         *     nowhere, except in what runs have read. A message with the same text stays as it is.
         */
        patch: operations["editMessage"];
        trace?: never;
    };
    "/v1/spaces/{id}/messages/{seq}/chain/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a chain
         * @description The chain is what one message has set off: the runs that it has triggered, their messages, and
         *     so on. Its active runs that messages of this space triggered are canceled, for the operator
         *     those of other spaces, too. Later messages of the chain wake nobody in this space. For people
         *     who are members, but not for guests. May be repeated.
         */
        post: operations["stopChain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/messages/{seq}/reactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * React to a message, or take a reaction back
         * @description A reaction wakes no agent. The call may be repeated: each member counts once for an emoji.
         */
        put: operations["reactToMessage"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/pins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the pinned messages
         * @description The message that was pinned last comes first.
         */
        get: operations["listPins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/pins/{seq}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Pin a message
         * @description Pinned messages stand in the prompts of all agents of the space. For members that are no guests;
         *     an agent pins only where it is an owner. The call may be repeated.
         */
        put: operations["pinMessage"];
        post?: never;
        /**
         * Unpin a message
         * @description The call may be repeated. 404 if no message has this number.
         */
        delete: operations["unpinMessage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a member's read position
         * @description The position only moves forward: a lower `seq` changes nothing.
         */
        put: operations["markRead"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs that messages of a space triggered
         * @description Newest first, without steps.
         */
        get: operations["listRunsOfSpace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop everything in a space
         * @description The space is paused, and all active runs that its messages triggered are canceled. For people
         *     who are members, but not for guests; an owner ends the pause with `paused: false`. May be
         *     repeated.
         */
        post: operations["stopSpace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spaces/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report the usage in a space
         * @description The runs that messages of the space triggered, its summaries and its router.
         */
        get: operations["showUsageOfSpace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a tool
         * @description Makes one real call, outside of runs, and shows what a model would read. Nothing is stored. A
         *     call takes at most 25 seconds.
         */
        post: operations["testTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report the usage of models
         * @description Adds up what runs had used when they ended, and what summaries and routers have used.
         */
        get: operations["showUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Acceptance: {
            /** @description The invite's token. */
            token: string;
            /** @description 1 to 128 characters, not only blanks, without control characters, invisible ones and ones that Unicode does not assign. A joiner or a selector stands only after a character beyond ASCII. */
            name?: string;
        };
        /** @description Where somebody who accepted an invite is now. */
        AcceptedInvite: {
            /** @description The space. */
            space: components["schemas"]["Space"];
            /** @description The entity that has joined it. */
            entity: components["schemas"]["Entity"];
            /**
             * @description A guest's credential: a bearer token for this one space. Each use lets it last for another
             *     day.
             */
            token?: string | null;
            expiresAt?: components["schemas"]["Time"] | null;
        };
        /** @description Who made a change. */
        Actor: components["schemas"]["AdminKeyActor"] | components["schemas"]["EntityActor"] | components["schemas"]["UnknownActor"];
        /** @description What an agent says of itself. */
        AgentCard: {
            /** @description The agent's id. */
            id: components["schemas"]["EntityId"];
            /** @description Its name. */
            name: string;
            /** @description What it is for; empty if nobody has said. */
            description: string;
        };
        /** @description The configuration of an agent, at most 256 KiB of JSON. */
        AgentConfig: {
            /**
             * @description The agent's purpose in one sentence, at most 4,096 bytes.
             * @default
             */
            description: string;
            /**
             * @description The start of every prompt: at most 32 KiB without NUL.
             * @default
             */
            instructions: string;
            /**
             * @description Nothing triggers a paused agent. Its active runs continue.
             * @default false
             */
            paused: boolean;
            /**
             * @description Whether owners of spaces may add the agent. Otherwise only the operator may.
             * @default false
             */
            open: boolean;
            /**
             * @description Whether a token may name the agent by its `externalId`. Otherwise such a token is refused:
             *     the name of a file is easy to guess, and some identity providers let people choose theirs.
             * @default false
             */
            signIn: boolean;
            model?: components["schemas"]["ModelConfig"] | null;
            runtime?: components["schemas"]["Runtime"] | null;
            /**
             * @description Limits of one run.
             * @default {
             *       "maxSteps": 20,
             *       "continueOn": "toolCalls",
             *       "timeLimit": "30 minutes",
             *       "remindUnsaid": true,
             *       "endAfterSend": true
             *     }
             */
            loop: components["schemas"]["LoopConfig"];
            /**
             * @description What the prompt contains.
             * @default {
             *       "window": 50,
             *       "history": "timeline"
             *     }
             */
            context: components["schemas"]["ContextConfig"];
            /**
             * @description Which groups of built-in tools it has.
             * @default {
             *       "messages": true,
             *       "memories": true,
             *       "goals": true,
             *       "plans": true,
             *       "runs": true,
             *       "search": true,
             *       "delegate": true
             *     }
             */
            builtins: components["schemas"]["Builtins"];
            /**
             * @description How many runs may work at the same time, and what a message does while they do.
             * @default {
             *       "maxRuns": 5,
             *       "mode": "coalesce"
             *     }
             */
            concurrency: components["schemas"]["ConcurrencyConfig"];
            /**
             * @description Limits for the agent's runs and costs.
             * @default {
             *       "tokensPerDay": null,
             *       "costPerDay": null,
             *       "runsPerMinute": 60
             *     }
             */
            budget: components["schemas"]["Budget"];
            /**
             * Format: int32
             * @description A message, plan or delivery with this chain depth or more does not trigger the agent.
             * @default 5
             */
            maxChainDepth: number;
            /** @description The agent's own tools, besides the built-in ones. */
            tools?: components["schemas"]["Tool"][];
            /** @description MCP servers whose tools the agent can call. */
            mcp?: components["schemas"]["McpConfig"];
            /** @description Rules for calls that people decide, or that are refused. They hold for all tools. */
            approvals?: components["schemas"]["ApprovalRule"][];
            /** @description Services whose signed webhooks may trigger the agent, by name. */
            webhooks?: {
                [key: string]: components["schemas"]["Webhook"];
            };
        };
        /** @description The configuration of an agent, at most 256 KiB of JSON. */
        AgentConfigPatch: {
            /** @description The agent's purpose in one sentence, at most 4,096 bytes. */
            description?: string | null;
            /** @description The start of every prompt: at most 32 KiB without NUL. */
            instructions?: string | null;
            /** @description Nothing triggers a paused agent. Its active runs continue. */
            paused?: boolean | null;
            /** @description Whether owners of spaces may add the agent. Otherwise only the operator may. */
            open?: boolean | null;
            /**
             * @description Whether a token may name the agent by its `externalId`. Otherwise such a token is refused:
             *     the name of a file is easy to guess, and some identity providers let people choose theirs.
             */
            signIn?: boolean | null;
            model?: components["schemas"]["ModelConfigPatch"] | null;
            runtime?: components["schemas"]["RuntimePatch"] | null;
            loop?: null | components["schemas"]["LoopConfigPatch"];
            context?: null | components["schemas"]["ContextConfigPatch"];
            builtins?: null | components["schemas"]["BuiltinsPatch"];
            concurrency?: null | components["schemas"]["ConcurrencyConfigPatch"];
            budget?: null | components["schemas"]["BudgetPatch"];
            /**
             * Format: int32
             * @description A message, plan or delivery with this chain depth or more does not trigger the agent.
             */
            maxChainDepth?: number | null;
            /** @description The agent's own tools, besides the built-in ones. */
            tools?: components["schemas"]["Tool"][] | null;
            mcp?: null | components["schemas"]["McpConfigPatch"];
            /** @description Rules for calls that people decide, or that are refused. They hold for all tools. */
            approvals?: components["schemas"]["ApprovalRule"][] | null;
            /** @description Services whose signed webhooks may trigger the agent, by name. */
            webhooks?: {
                [key: string]: null | components["schemas"]["WebhookPatch"];
            } | null;
        };
        /** @description A remembered approval: calls of one tool of one agent that are made without asking. */
        Allowance: {
            /** @description Its id. */
            id: components["schemas"]["AllowanceId"];
            /** @description The agent. */
            agentId: components["schemas"]["EntityId"];
            /** @description The name of the tool. */
            tool: string;
            spaceId: components["schemas"]["SpaceId"] | null;
            /** @description A CEL expression; null if it counts for every call. */
            when: string | null;
            /**
             * @description The rule under which it was made. It is void when the agent's first rule that would ask is
             *     another one.
             */
            rule: components["schemas"]["ApprovalRule"];
            /** @description Who made it. */
            createdBy: components["schemas"]["EntityId"];
            /** @description The maker's name at that time. */
            createdByName: string;
            /** @description When it was made. */
            createdAt: components["schemas"]["Time"];
            expiresAt: components["schemas"]["Time"] | null;
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        AllowanceId: string;
        /** @description Who may answer a form. */
        AnswerBy: components["schemas"]["AnswerGroup"] | components["schemas"]["EntityId"][];
        /**
         * @description A group of members that may answer a form.
         * @enum {string}
         */
        AnswerGroup: "humans" | "anyone";
        /**
         * @description How much of an apply took effect.
         * @enum {string}
         */
        Applied: "all" | "partly" | "none";
        /** @description What files say of the objects of a project: the body of `POST /v1/apply`. */
        Apply: {
            /** @description The project's name. */
            project: components["schemas"]["ProjectName"];
            /** @description Where the files come from. */
            source?: components["schemas"]["ApplySource"];
            /**
             * @description Whether changes by hand and other projects' objects are overwritten.
             * @default false
             */
            force: boolean;
            /**
             * @description Whether agents and plans of the project that no file names end. Spaces are released only.
             * @default false
             */
            prune: boolean;
            /** @description The objects, at most 300. */
            objects: components["schemas"]["ManagedObject"][];
        };
        /** @description The answer to an apply. */
        ApplyAnswer: {
            /** @description Whether all objects are now as the files say. */
            applied: components["schemas"]["Applied"];
            /** @description How many objects there are of each action. */
            summary: components["schemas"]["ApplySummary"];
            /** @description What became of each object: those of the files in their order, then pruned ones. */
            results: components["schemas"]["ObjectResult"][];
        };
        /** @description Where files come from. */
        ApplySource: {
            /** @description The commit, at most 128 characters. */
            commit?: string | null;
            /** @description Where the commit can be seen, at most 2,048 characters. */
            url?: string | null;
        };
        /** @description How many objects of an apply have each action. */
        ApplySummary: {
            /**
             * Format: int32
             * @description New objects.
             */
            created: number;
            /**
             * Format: int32
             * @description Objects that changed.
             */
            changed: number;
            /**
             * Format: int32
             * @description Objects that are as the files say.
             */
            unchanged: number;
            /**
             * Format: int32
             * @description Agents and plans that ended, and spaces that were released.
             */
            pruned: number;
            /**
             * Format: int32
             * @description Objects that could not be written.
             */
            failed: number;
        };
        /** @description The approvals of a call, as its card shows them. */
        Approval: {
            /** @description Who may decide. */
            by: components["schemas"]["Approvers"];
            /**
             * Format: int32
             * @description How many people have to approve.
             */
            needed: number;
            /** @description How far the decision is. */
            state: components["schemas"]["ApprovalState"];
            /**
             * Format: int32
             * @description How often people have edited the input. Absent if nobody has.
             */
            inputRevision?: number;
            /** @description The decisions so far, in their order. An edit ends earlier approvals, which are left out. */
            decisions: components["schemas"]["MadeDecision"][];
        };
        /** @description How many approvals a call has after a decision. */
        ApprovalCount: {
            /**
             * Format: int32
             * @description How many people have approved the call as it is now.
             */
            given: number;
            /**
             * Format: int32
             * @description How many have to.
             */
            needed: number;
        };
        /** @description What a call would need. */
        ApprovalPreview: {
            /** @description What happens to the call. */
            verdict: components["schemas"]["PreviewedVerdict"];
            /** @description The place of the rule that decides in the list of rules, from 0. Null if none does. */
            rule: number | null;
            by: components["schemas"]["Approvers"] | null;
            /**
             * Format: int32
             * @description How many people have to approve, if the rule asks.
             */
            quorum: number | null;
            allowanceId: components["schemas"]["AllowanceId"] | null;
        };
        /** @description A rule: calls of these tools wait for people, or are refused. */
        ApprovalRule: {
            /** @description 1 to 20 names of tools, or patterns with `*`. */
            tools: string[];
            /**
             * @description What the rule does.
             * @default ask
             */
            action: components["schemas"]["RuleAction"];
            /**
             * @description A CEL expression over `input`, `tool`, `agent` and `space`: the rule counts if it is true.
             *     An error counts as true. The default is always.
             */
            when?: string | null;
            /**
             * @description Who may decide: always people, and never guests.
             * @default members
             */
            by: components["schemas"]["Approvers"];
            /**
             * Format: int32
             * @description How many different people have to approve.
             * @default 1
             */
            quorum: number;
            /**
             * @description How long a call waits, at most 7 days.
             * @default 1 day
             */
            expiresAfter: components["schemas"]["WrittenDuration"];
            /**
             * @description What happens when nobody has decided in time.
             * @default decline
             */
            onExpire: components["schemas"]["OnExpire"];
        };
        /**
         * @description How far the decision of a call is.
         * @enum {string}
         */
        ApprovalState: "open" | "approved" | "declined" | "expired";
        /**
         * @description A group of people who may decide a call.
         * @enum {string}
         */
        ApproverGroup: "members" | "owners";
        /** @description Who may decide a call. */
        Approvers: components["schemas"]["ApproverGroup"] | components["schemas"]["EntityId"][];
        /** @description Opaque: do not parse it, and do not sort by it. */
        AttachmentId: string;
        /**
         * @description How far the upload of a file is.
         * @enum {string}
         */
        AttachmentStatus: "pending" | "ready" | "refused";
        /**
         * @description What moved a score.
         * @enum {string}
         */
        Because: "named" | "not_named" | "other_named" | "nobody_named" | "asked_sender" | "sender_wrote" | "other_talk" | "turns" | "recent" | "absent" | "share" | "sender" | "words" | "form" | "role" | "crowd";
        /** @description Limits for runs and costs. A day begins at midnight UTC. */
        Budget: {
            /**
             * Format: int64
             * @description Tokens per day, read and written. Null is no limit.
             * @default null
             */
            tokensPerDay: number | null;
            /**
             * Format: double
             * @description Dollars per day. Null is no limit.
             * @default null
             */
            costPerDay: number | null;
            /**
             * Format: int32
             * @description Runs that may start in one clock minute.
             * @default 60
             */
            runsPerMinute: number;
        };
        /** @description Limits for runs and costs. A day begins at midnight UTC. */
        BudgetPatch: {
            /**
             * Format: int64
             * @description Tokens per day, read and written. Null is no limit.
             */
            tokensPerDay?: number | null;
            /**
             * Format: double
             * @description Dollars per day. Null is no limit.
             */
            costPerDay?: number | null;
            /**
             * Format: int32
             * @description Runs that may start in one clock minute.
             */
            runsPerMinute?: number | null;
        };
        /**
         * @description Which groups of built-in tools an agent has. Without a group, its prompts also leave out the
         *     block of that group.
         */
        Builtins: {
            /**
             * @description `react` and `edit_message`.
             * @default true
             */
            messages: boolean;
            /**
             * @description `set_memories`, `get_memories` and `delete_memories`.
             * @default true
             */
            memories: boolean;
            /**
             * @description `set_goals`, `get_goals` and `delete_goals`.
             * @default true
             */
            goals: boolean;
            /**
             * @description `set_plans`, `get_plans` and `delete_plans`.
             * @default true
             */
            plans: boolean;
            /**
             * @description `get_my_runs`, `stop_run` and `absorb_run`.
             * @default true
             */
            runs: boolean;
            /**
             * @description `search_messages`. An agent has it if a space of it is longer than `context.window`.
             * @default true
             */
            search: boolean;
            /**
             * @description `delegate`. Only the admin agents of spaces have it.
             * @default true
             */
            delegate: boolean;
        };
        /**
         * @description Which groups of built-in tools an agent has. Without a group, its prompts also leave out the
         *     block of that group.
         */
        BuiltinsPatch: {
            /** @description `react` and `edit_message`. */
            messages?: boolean | null;
            /** @description `set_memories`, `get_memories` and `delete_memories`. */
            memories?: boolean | null;
            /** @description `set_goals`, `get_goals` and `delete_goals`. */
            goals?: boolean | null;
            /** @description `set_plans`, `get_plans` and `delete_plans`. */
            plans?: boolean | null;
            /** @description `get_my_runs`, `stop_run` and `absorb_run`. */
            runs?: boolean | null;
            /** @description `search_messages`. An agent has it if a space of it is longer than `context.window`. */
            search?: boolean | null;
            /** @description `delegate`. Only the admin agents of spaces have it. */
            delegate?: boolean | null;
        };
        /** @description A tool call. */
        Call: {
            /** @description The call's id. */
            callId: components["schemas"]["CallId"];
            /** @description The tool's name. */
            name: string;
            /** @description The call's input; a text if the model did not write valid JSON. */
            input: unknown;
            /** @description The call's result; null while there is none. */
            output: unknown;
            /** @description The pictures that the call has returned, or the files of its answer. Absent if none. */
            files?: components["schemas"]["ReturnedFile"][];
            /** @description The call's status. */
            status: components["schemas"]["CallStatus"];
            startedAt: components["schemas"]["Time"] | null;
            finishedAt: components["schemas"]["Time"] | null;
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        CallId: string;
        /**
         * @description The status of a tool call.
         * @enum {string}
         */
        CallStatus: "pending" | "completed" | "failed" | "expired" | "canceled" | "unknown";
        /** @enum {string} */
        CallerKind: "operator" | "entity";
        /**
         * @description What a caller may do, as far as that does not depend on a space.
         * @enum {string}
         */
        Capability: "operate" | "create_spaces" | "cancel_runs" | "retry_runs";
        /** @description That a message of an agent would have triggered others but for a limit, and triggers nobody. */
        ChainEnded: {
            /** @description The limit. */
            by: components["schemas"]["ChainLimit"];
            /**
             * Format: int32
             * @description Its number: how many answers in a row it allows, or for `rate`, how many runs in a minute.
             */
            limit: number;
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        ChainId: string;
        /**
         * @description A limit of what agents may say to each other. If several hold, the first one counts.
         * @enum {string}
         */
        ChainLimit: "depth" | "auto_replies" | "rate";
        /** @description The page of the member who sends a message. */
        ClientPage: {
            /** @description Tools that the page runs. Together they have at most 16 KiB of JSON. */
            tools?: components["schemas"]["PageTool"][];
            /** @description What the page shows, at most 8 KiB without NUL. */
            context?: string;
        };
        /** @description How many runs of an agent work at the same time. A run that waits for people does not count. */
        ConcurrencyConfig: {
            /**
             * Format: int32
             * @description The largest number of runs that work at the same time, over all spaces. More runs wait, the
             *     oldest first.
             * @default 5
             */
            maxRuns: number;
            /**
             * @description What a message does while a run that the same space triggered is queued or works. Plans and
             *     services always start their own run.
             * @default coalesce
             */
            mode: components["schemas"]["ConcurrencyMode"];
        };
        /** @description How many runs of an agent work at the same time. A run that waits for people does not count. */
        ConcurrencyConfigPatch: {
            /**
             * Format: int32
             * @description The largest number of runs that work at the same time, over all spaces. More runs wait, the
             *     oldest first.
             */
            maxRuns?: number | null;
            mode?: null | components["schemas"]["ConcurrencyMode"];
        };
        /**
         * @description What a message does while a run that the same space triggered is queued or works.
         * @enum {string}
         */
        ConcurrencyMode: "parallel" | "queue" | "coalesce" | "latest";
        /** @description What the prompt contains. */
        ContextConfig: {
            /**
             * Format: int32
             * @description How many of the newest messages the prompt shows. It shows up to half as many more, because
             *     the window moves in steps of half its size.
             * @default 50
             */
            window: number;
            /**
             * @description The form of these messages.
             * @default timeline
             */
            history: components["schemas"]["History"];
            /** @default null */
            spaces: components["schemas"]["SpacesShown"] | null;
        };
        /** @description What the prompt contains. */
        ContextConfigPatch: {
            /**
             * Format: int32
             * @description How many of the newest messages the prompt shows. It shows up to half as many more, because
             *     the window moves in steps of half its size.
             */
            window?: number | null;
            history?: null | components["schemas"]["History"];
            spaces?: components["schemas"]["SpacesShown"] | null;
        };
        /**
         * @description After which tool calls the model is asked again.
         * @enum {string}
         */
        ContinueOn: "toolCalls" | "writes";
        /** @description A new invite, with its token. */
        CreatedInvite: {
            /** @description The invite's id. */
            id: components["schemas"]["InviteId"];
            /** @description The space. */
            spaceId: components["schemas"]["SpaceId"];
            /** @description The role of those who accept it: `member`. */
            role: components["schemas"]["Role"];
            /**
             * Format: int32
             * @description How often it may still be used.
             */
            usesLeft: number;
            createdBy: components["schemas"]["EntityId"] | null;
            /** @description When it was made. */
            createdAt: components["schemas"]["Time"];
            /** @description When it ends. */
            expiresAt: components["schemas"]["Time"];
            /**
             * @description True if its maker has stopped being an owner since, so nobody can use it. Revoking it still
             *     removes the guests who came by it.
             */
            ended: boolean;
            /** @description The secret of the invite. It is shown only here. */
            token: string;
            /** @description The address of a page on which a person accepts the invite. It holds the token. */
            url: string;
        };
        /**
         * @description What a person decides.
         * @enum {string}
         */
        DecisionAction: "approve" | "edit" | "respond" | "decline" | "end";
        /** @description A decision on a call that waits for approval. */
        DecisionBody: {
            /** @description What is decided. */
            action: components["schemas"]["DecisionAction"];
            /** @description With `edit`: the new input, at most 64 KiB as JSON. */
            input?: unknown;
            /** @description With `respond`: the result for the model. With `decline`: the reason. */
            text?: string | null;
            remember?: components["schemas"]["Remember"] | null;
            /**
             * Format: int32
             * @description With `approve` or `edit`: the `inputRevision` of the card that the person has seen. If
             *     somebody has edited the input since, the answer is 409. Without it, the decision counts for
             *     the input as it is now.
             */
            inputRevision?: number | null;
            senderId?: components["schemas"]["EntityId"] | null;
        };
        /** @description The approvals of a call. */
        DecisionResponse: {
            /** @description How many there are after the decision. */
            approvals: components["schemas"]["ApprovalCount"];
        };
        DeclinedResult: {
            /** @enum {boolean} */
            declined: true;
            /** @description Why the person declines. */
            reason?: string | null;
            senderId?: components["schemas"]["EntityId"] | null;
        };
        /** @description That a message is deleted. What remains of it is its tombstone. */
        Deleted: {
            /** @description When it was deleted. */
            at: components["schemas"]["Time"];
            /** @description Who deleted it. */
            by: components["schemas"]["DeletedBy"];
        };
        /**
         * @description Who deleted a message.
         * @enum {string}
         */
        DeletedBy: "sender" | "owner" | "operator";
        /** @description A webhook of a service. */
        Delivery: {
            /** @description The delivery's id. */
            id: components["schemas"]["DeliveryId"];
            /** @description The service's name. */
            service: string;
            /**
             * @description The key that identifies the delivery among those of its service. Null if the delivery was
             *     rejected before its key was known.
             */
            key: string | null;
            /** @description What happened to the delivery. */
            status: components["schemas"]["DeliveryStatus"];
            /**
             * @description Why the delivery did not trigger the agent: `paused`, `chain_depth`, `rate` or `budget` if
             *     it was refused, a sentence if it was rejected, otherwise null.
             */
            reason: string | null;
            runId: components["schemas"]["RunId"] | null;
            /** @description The length of the payload, in bytes. */
            bytes: number;
            /** @description When the delivery was received. */
            receivedAt: components["schemas"]["Time"];
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        DeliveryId: string;
        /**
         * @description What happened to a delivery.
         * @enum {string}
         */
        DeliveryStatus: "accepted" | "repeated" | "refused" | "rejected";
        /**
         * @description How many agents the gate wakes.
         * @enum {string}
         */
        Dial: "quiet" | "balanced" | "lively";
        /** @description What a dial would have led to. */
        DialOutcome: {
            /** @description The dial. */
            dial: components["schemas"]["Dial"];
            /**
             * Format: int64
             * @description The runs that it would have triggered.
             */
            wakes: number;
            /**
             * Format: int64
             * @description The answers of the agents that it would have woken.
             */
            answers: number;
        };
        /** @description The decision for one agent. */
        Dispatch: {
            /** @description The agent. */
            agentId: components["schemas"]["EntityId"];
            runId: components["schemas"]["RunId"] | null;
            source?: components["schemas"]["Source"] | null;
            reason?: components["schemas"]["Reason"] | null;
            /**
             * @description More about `reason` or `source`, at most 300 characters: the gate's score and what moved it
             *     most, the router's words for its choice, how often the agent has answered agents, or whose
             *     budget is used, and until when. Absent if there is nothing to add.
             */
            reasonText?: string | null;
        };
        /** @description A managed field that was changed by hand. Texts, and lists as JSON, are cut to 200 characters. */
        Drift: {
            /** @description Where the field is in the file. */
            pointer: string;
            /** @description The value that was applied last. Absent if none was. */
            applied?: unknown;
            /** @description The value that it has now. Absent if there is none. */
            now?: unknown;
            /** @description The value that the file says. Absent if the file names none: the default. */
            file?: unknown;
            /**
             * Format: int64
             * @description The revision of an agent that changed it last.
             */
            revision?: number | null;
            at?: components["schemas"]["Time"] | null;
            by?: components["schemas"]["Actor"] | null;
        };
        /**
         * @description Why a run ended, unless it failed.
         * @enum {string}
         */
        EndReason: "done" | "skipped" | "delegated" | "refusal" | "max_steps" | "time_limit" | "length" | "cancel" | "declined" | "stop_run" | "absorbed" | "superseded" | "coalesced" | "removed" | "deleted";
        /** @description A person or an agent. */
        Entity: {
            /** @description The entity's id. */
            id: components["schemas"]["EntityId"];
            /** @description Whether it is a person or an agent. */
            type: components["schemas"]["EntityType"];
            /**
             * @description The entity's name. An agent's name is unique among the agents of a space, as mentions
             *     compare names.
             */
            name: string;
            /** @description The entity's id in the deployment's own user directory. Unique. */
            externalId: string | null;
            /** @description When the entity was created. */
            createdAt: components["schemas"]["Time"];
            agent?: components["schemas"]["AgentConfig"] | null;
            /**
             * Format: int64
             * @description The newest revision of the agent. Only the operator sees it, and people have none.
             */
            revision?: number | null;
            managedBy?: components["schemas"]["ManagedBy"] | null;
            guestOf?: components["schemas"]["SpaceId"] | null;
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        EntityId: string;
        /**
         * @description The settings of an entity: the body of `POST /v1/entities`, and the document that a merge patch
         *     changes.
         */
        EntityPatch: {
            /** @description Whether it is a person or an agent. Cannot be changed. */
            type?: components["schemas"]["EntityType"];
            /** @description 1 to 128 characters, not only blanks, without control characters, invisible ones and ones that Unicode does not assign. A joiner or a selector stands only after a character beyond ASCII. */
            name?: string;
            /** @description The entity's id in the deployment's own user directory. It may not start with an id prefix such as `ent_`. */
            externalId?: string | null;
            agent?: components["schemas"]["AgentConfigPatch"] | null;
        };
        /**
         * @description Whether an entity is a person or an agent.
         * @enum {string}
         */
        EntityType: "human" | "agent";
        /** @description How a call of a tool is executed. */
        Execution: components["schemas"]["HttpExecution"] | components["schemas"]["SpaceExecution"] | components["schemas"]["ComputeExecution"] | components["schemas"]["ImageExecution"] | components["schemas"]["StaticExecution"];
        /**
         * @description Why a run failed, by what can be done about it.
         * @enum {string}
         */
        FailureCode: "not_configured" | "unauthorized" | "rate_limited" | "overloaded" | "context_too_long" | "bad_request" | "broken_stream" | "budget" | "timeout" | "refused" | "remote" | "attempts" | "internal";
        /** @description A model without settings of its own. As a fallback it gets those of the agent's `model`. */
        FallbackModel: {
            /** @description The model's provider. */
            provider: components["schemas"]["ProviderName"];
            /** @description The model's name at its provider: 1 to 200 bytes without control characters. */
            name: string;
        };
        /** @description One thing that is wrong with an input. */
        Fault: {
            /** @description JSON pointer to the faulty value; empty for the whole input. */
            pointer: string;
            /** @description What was expected there, and often what was found. */
            detail: string;
        };
        /** @description A field that a change has set. Texts, and lists as JSON, are cut to 200 characters. */
        FieldChange: {
            /** @description Where the field is: `/name`, or its place in the configuration such as `/model/name`. */
            pointer: string;
            /** @description The value before the change. Absent if there was none. */
            from?: unknown;
            /** @description The value after the change. Absent if there is none. */
            to?: unknown;
        };
        /**
         * @description Why a model stopped.
         * @enum {string}
         */
        FinishReason: "tool_calls" | "stop" | "length" | "refusal" | "pause" | "error";
        /** @description Where a fork begins. */
        ForkOf: {
            /** @description The run whose steps it replays. */
            runId: components["schemas"]["RunId"];
            /**
             * Format: int32
             * @description The first step for which it asks its model itself.
             */
            step: number;
        };
        ForkRequest: {
            /**
             * Format: int32
             * @description The first step for which the model is asked again. The steps before it are replayed.
             */
            fromStep: number;
            model?: components["schemas"]["ModelConfig"] | null;
            /** @description Other instructions, at most 32 KiB. */
            instructions?: string | null;
            /**
             * @description What the fork may do.
             * @default dry
             * @enum {string}
             */
            mode: "dry";
        };
        /** @description A message that a search has found. */
        FoundMessage: {
            /** @description The space of the message. */
            spaceId: components["schemas"]["SpaceId"];
            /** @description The name of the space. */
            spaceName: string;
            /** @description The message's id. */
            messageId: components["schemas"]["MessageId"];
            /**
             * Format: int64
             * @description The message's number in the space.
             */
            seq: number;
            /** @description When the message was posted. */
            at: components["schemas"]["Time"];
            /** @description The sender, with its name at the time of posting. */
            sender: components["schemas"]["Sender"];
            /** @description Up to 300 characters of the text around the best place. */
            excerpt: string;
            /** @description The found words and phrases in `excerpt`, in its order. */
            matches: components["schemas"]["Span"][];
            /** @description The names of its files. */
            files: string[];
            /**
             * Format: double
             * @description How well the message fits the query.
             */
            score: number;
            /**
             * @description The numbers of other found messages that this item includes, because they are at most two
             *     numbers apart.
             */
            alsoSeqs: number[];
            /** @description Up to two messages before it, oldest first. */
            before: components["schemas"]["Neighbour"][];
            /** @description Up to two messages after it, oldest first. */
            after: components["schemas"]["Neighbour"][];
        };
        /** @description What the gate said about a message. Only owners and the operator read it. */
        Gate: {
            /**
             * Format: int32
             * @description The version of the weights.
             */
            version: number;
            /** @description The dial of the space. */
            dial: components["schemas"]["Dial"];
            /** @description Whether the gate decided. */
            mode: components["schemas"]["GateMode"];
            /** @description The score of each agent that could be woken and that the message does not address. */
            scores: components["schemas"]["GateScore"][];
        };
        /**
         * @description Whether the gate decides.
         * @enum {string}
         */
        GateMode: "on" | "shadow" | "off";
        /** @description The gate of a space. */
        GatePatch: {
            mode?: null | components["schemas"]["GateMode"];
            dial?: null | components["schemas"]["Dial"];
        };
        /**
         * @description What was done about the last messages that have scores, and what each dial would have done
         *     without a model.
         */
        GateReport: {
            /**
             * Format: int64
             * @description The number of the messages, at most 500.
             */
            messages: number;
            /**
             * Format: int64
             * @description The `seq` of the first of them; null if there are none.
             */
            fromSeq: number | null;
            /**
             * Format: int64
             * @description The `seq` of the last of them; null if there are none.
             */
            toSeq: number | null;
            /** @description What was done. */
            now: components["schemas"]["Outcome"];
            /** @description What each dial would have done, from the quietest. */
            dials: components["schemas"]["DialOutcome"][];
        };
        /** @description The score of an agent. */
        GateScore: {
            /** @description The agent. */
            agentId: components["schemas"]["EntityId"];
            /**
             * Format: double
             * @description How likely it is that the agent would answer, from 0 to 1.
             */
            score: number;
            /** @description What the score leads to. */
            would: components["schemas"]["Would"];
            /** @description What moved the score most, at most two. */
            because: components["schemas"]["Because"][];
        };
        /** @description The gate of a space. */
        GateSettings: {
            /**
             * @description Whether it decides.
             * @default on
             */
            mode: components["schemas"]["GateMode"];
            /**
             * @description How many agents it wakes.
             * @default balanced
             */
            dial: components["schemas"]["Dial"];
        };
        /** @description A goal of an agent. */
        Goal: {
            /** @description The goal's id, 1 to 128 characters. Its author chooses it. */
            id: string;
            /** @description What is to be achieved, 1 to 4,000 characters. */
            description: string;
            /** @description The goal's status. */
            status: components["schemas"]["GoalStatus"];
            /**
             * Format: int32
             * @description 1 (most urgent) to 5.
             */
            priority: number;
            /** @description Whether the goal is a long-term goal. */
            longTerm: boolean;
            dueAt: components["schemas"]["Time"] | null;
            /** @description When the goal was first set. */
            createdAt: components["schemas"]["Time"];
            /** @description When the goal was last changed. */
            updatedAt: components["schemas"]["Time"];
        };
        /**
         * @description A change of a goal, or a new goal. Fields that are left out do not change, and get their
         *     defaults in a new goal.
         */
        GoalChange: {
            /** @description What is to be achieved. Required for a new goal. */
            description?: string | null;
            status?: components["schemas"]["GoalStatus"] | null;
            /**
             * Format: int32
             * @description 1 (most urgent) to 5. The default of a new goal is 3.
             */
            priority?: number | null;
            /** @description Whether the goal is a long-term goal. The default of a new goal is false. */
            longTerm?: boolean | null;
            dueAt?: components["schemas"]["Time"] | null;
        };
        /**
         * @description The status of a goal.
         * @enum {string}
         */
        GoalStatus: "active" | "completed" | "abandoned";
        HeaderValue: string;
        Health: {
            /** @description Always `ok`. */
            status: string;
        };
        /** @description Only the type of a trigger, for readers who may know no more. */
        HiddenTrigger: {
            /** @description The trigger's type. */
            type: components["schemas"]["TriggerKind"];
        };
        /** @description A system message of a watcher to the model of a run. */
        Hint: {
            /** @description The watcher's name. */
            watcher: string;
            /** @description The text of the message. */
            text: string;
            /** @description When the model was asked with it. */
            at: components["schemas"]["Time"];
        };
        /**
         * @description The form of the history in a prompt.
         * @enum {string}
         */
        History: "timeline" | "roles";
        /** @description A size like `1024x1024`: width and height in pixels, 64 to 4096. */
        ImageSize: string;
        /** @description An agent that asks. */
        InboxAgent: {
            /** @description Its id. */
            id: components["schemas"]["EntityId"];
            /** @description Its name when it asked. */
            name: string;
        };
        /** @description A card that waits for the caller: a form that it may answer, or a call that it may decide. */
        InboxItem: {
            /** @description The message that shows the card. */
            id: components["schemas"]["MessageId"];
            /** @description What the card waits for. */
            kind: components["schemas"]["InboxKind"];
            /** @description The space of the message. */
            spaceId: components["schemas"]["SpaceId"];
            /** @description The name of the space. */
            spaceName: string;
            /**
             * Format: int64
             * @description The number of the message in its space.
             */
            seq: number;
            /** @description The run that waits. */
            runId: components["schemas"]["RunId"];
            /** @description The call that waits. */
            callId: components["schemas"]["CallId"];
            /** @description The agent that asks. */
            agent: components["schemas"]["InboxAgent"];
            /** @description The name of the tool. */
            tool: string;
            /**
             * @description The first text of the input, which mostly is the question: at most 1,000 characters of it.
             *     Null if the input has no text or is left out, and for a call that people decide.
             */
            question: string | null;
            /**
             * @description The input of the call. Null if it is longer than 4,000 characters as JSON; the message has
             *     all of it.
             */
            input: unknown;
            /**
             * Format: int32
             * @description How often people have edited the input. Absent if nobody has.
             */
            inputRevision?: number;
            /** @description When the card expires. */
            expiresAt: components["schemas"]["Time"];
            /** @description When it was posted. */
            createdAt: components["schemas"]["Time"];
        };
        /**
         * @description What a card waits for.
         * @enum {string}
         */
        InboxKind: "form" | "approval";
        /** @description An invite to a space. */
        Invite: {
            /** @description The invite's id. */
            id: components["schemas"]["InviteId"];
            /** @description The space. */
            spaceId: components["schemas"]["SpaceId"];
            /** @description The role of those who accept it: `member`. */
            role: components["schemas"]["Role"];
            /**
             * Format: int32
             * @description How often it may still be used.
             */
            usesLeft: number;
            createdBy: components["schemas"]["EntityId"] | null;
            /** @description When it was made. */
            createdAt: components["schemas"]["Time"];
            /** @description When it ends. */
            expiresAt: components["schemas"]["Time"];
            /**
             * @description True if its maker has stopped being an owner since, so nobody can use it. Revoking it still
             *     removes the guests who came by it.
             */
            ended: boolean;
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        InviteId: string;
        /** @description Where an invite leads. */
        InvitePreview: {
            /** @description The name of the space. */
            spaceName: string;
            /** @description The name of the member that made the invite. Null if the operator did. */
            invitedBy: string | null;
            /** @description How many people are in the space. */
            people: number;
            /** @description The names of its agents. */
            agents: string[];
            /** @description When the invite ends. */
            expiresAt: components["schemas"]["Time"];
        };
        /** @description The last message of a space, in short. */
        LastMessage: {
            /**
             * Format: int64
             * @description The message's position in the space.
             */
            seq: number;
            /** @description When it was posted. */
            at: components["schemas"]["Time"];
            /** @description Who posted it. */
            sender: components["schemas"]["Sender"];
            /**
             * @description The first 80 characters of its text, or the name of the tool that its card shows. Null if
             *     it is deleted.
             */
            excerpt: string | null;
            /** @description True if it is deleted. Absent otherwise. */
            deleted?: boolean;
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        LineId: string;
        /**
         * @description What a line reports.
         * @enum {string}
         */
        LineKind: "joined" | "left" | "renamed" | "paused" | "resumed" | "policyChanged" | "chainStopped" | "stopped";
        /** @description A file in the list of a space's files. */
        ListedAttachment: {
            /** @description The file's id. */
            id: components["schemas"]["AttachmentId"];
            /** @description The space that the file belongs to. */
            spaceId: components["schemas"]["SpaceId"];
            /** @description The file's name. */
            name: string;
            /** @description The file's media type. */
            contentType: string;
            /**
             * Format: int64
             * @description The file's size.
             */
            bytes: number;
            /** @description The file's SHA-256 in hexadecimal digits. */
            sha256: string;
            /**
             * Format: int32
             * @description The width of a picture in pixels.
             */
            width?: number | null;
            /**
             * Format: int32
             * @description The height of a picture in pixels.
             */
            height?: number | null;
            /** @description How far the upload is. */
            status: components["schemas"]["AttachmentStatus"];
            /** @description Why the file was refused, for people. */
            reason?: string | null;
            createdBy: components["schemas"]["EntityId"] | null;
            /** @description When the upload was asked for. */
            createdAt: components["schemas"]["Time"];
            /**
             * Format: int64
             * @description The `seq` of the first message that names the file. Null if none does.
             */
            seq: number | null;
            expiresAt: components["schemas"]["Time"] | null;
        };
        /** @description A plan of a list, with its next times. */
        ListedPlan: components["schemas"]["OnceListedPlan"] | components["schemas"]["CronListedPlan"];
        /** @description How far the operator has looked at a space. */
        Looked: {
            /**
             * Format: int64
             * @description The `seq` of the last message that the operator has seen.
             */
            seq: number;
            /**
             * Format: int64
             * @description How many tool cards there are up to it.
             */
            cards: number;
        };
        /** @description Limits of one run. */
        LoopConfig: {
            /**
             * Format: int32
             * @description How many model answers a run may have.
             * @default 20
             */
            maxSteps: number;
            /**
             * @description After which tool calls the model is asked again.
             * @default toolCalls
             */
            continueOn: components["schemas"]["ContinueOn"];
            /**
             * @description How long a run may work, at most 1 day. Waiting for forms does not count.
             * @default 30 minutes
             */
            timeLimit: components["schemas"]["WrittenDuration"];
            /**
             * @description Whether to remind the agent once if it was named, posted nothing and answered in text alone.
             * @default true
             */
            remindUnsaid: boolean;
            /**
             * @description Whether a run that a message triggered ends when all calls of an answer were `send_message`,
             *     succeeded and posted to the space of that message, unless one of them said `more: true`. The
             *     model is not asked once more, which saves a prompt for each answer.
             * @default true
             */
            endAfterSend: boolean;
        };
        /** @description Limits of one run. */
        LoopConfigPatch: {
            /**
             * Format: int32
             * @description How many model answers a run may have.
             */
            maxSteps?: number | null;
            continueOn?: null | components["schemas"]["ContinueOn"];
            timeLimit?: null | components["schemas"]["WrittenDuration"];
            /** @description Whether to remind the agent once if it was named, posted nothing and answered in text alone. */
            remindUnsaid?: boolean | null;
            /**
             * @description Whether a run that a message triggered ends when all calls of an answer were `send_message`,
             *     succeeded and posted to the space of that message, unless one of them said `more: true`. The
             *     model is not asked once more, which saves a prompt for each answer.
             */
            endAfterSend?: boolean | null;
        };
        /** @description A decision of a person. */
        MadeDecision: {
            /** @description Who decided. */
            by: components["schemas"]["EntityId"];
            /** @description The name at that time. */
            name: string;
            /** @description What was decided. */
            action: components["schemas"]["DecisionAction"];
            /** @description When. */
            at: components["schemas"]["Time"];
            /** @description True if the operator decided in the person's name. */
            byOperator?: boolean;
            /** @description True if it made an allowance. */
            remembers?: boolean;
        };
        /** @description Which files manage an object. */
        ManagedBy: {
            /** @description The project's name. */
            project: string;
            /** @description The path of the file in the project. */
            path?: string | null;
            /** @description The name of the object in the project. Only the operator sees it, and what follows. */
            externalId?: string | null;
            /** @description The commit with which the object was changed last. */
            commit?: string | null;
            appliedAt?: components["schemas"]["Time"] | null;
            /**
             * Format: int64
             * @description The revision of an agent that the apply made, or found.
             */
            revision?: number | null;
        };
        /** @description What a file says of an object. */
        ManagedObject: {
            /** @description What the object is. */
            kind: components["schemas"]["ObjectKind"];
            /**
             * @description The name of the object in files, 1 to 256 characters without NUL. It may not start with an
             *     id prefix such as `ent_`. Compared after Unicode's normal form C.
             */
            externalId: string;
            /** @description The id of an object that exists and that no project has managed so far. */
            id?: string | null;
            /** @description The path of the file, at most 512 characters. */
            path?: string | null;
            /**
             * @description What the file says. An agent's is `name` and the fields of its configuration, a space's its
             *     settings and `members` (a list of `id` and `role`), a plan's `agent`, `name`,
             *     `instruction`, `cron`, `timezone` and `status`. Where a field takes the id of an entity or
             *     a space, an external id may stand instead.
             */
            spec: {
                [key: string]: unknown;
            };
        };
        /** @description The MCP servers of an agent. */
        McpConfig: {
            /** @description At most 10 servers. */
            servers?: components["schemas"]["McpServer"][];
        };
        /** @description The MCP servers of an agent. */
        McpConfigPatch: {
            /** @description At most 10 servers. */
            servers?: components["schemas"]["McpServer"][] | null;
        };
        /** @description An MCP server, called over streamable HTTP. */
        McpServer: {
            /**
             * @description The prefix of the tools' names: the model sees `server__tool`. So it has no two underscores
             *     in a row, and none at its end.
             */
            name: string;
            /** @description `http://` or `https://` and a host without placeholders. */
            url: string;
            /** @description Headers of each request. Their values may hold `${secret.NAME}`. */
            headers?: {
                [key: string]: components["schemas"]["HeaderValue"];
            };
            /**
             * @description Whether each call is shown in the space as a card, with the progress that the server
             *     reports.
             * @default false
             */
            visible: boolean;
            /** @description The names of the server's tools that the agent may call. The default is all. */
            allowedTools?: string[] | null;
            /**
             * Format: int32
             * @description How long a call may take, in milliseconds.
             * @default 30000
             */
            timeoutMs: number;
        };
        /** @description A tool of an MCP server. */
        McpToolTest: {
            /** @description The server, as in the configuration of an agent. */
            server: components["schemas"]["McpServer"];
            /** @description The name of the tool at the server. */
            tool: string;
        };
        /** @description The holder of a credential. */
        Me: {
            /** @description The operator, who has the admin key, or an entity, which has a token. */
            kind: components["schemas"]["CallerKind"];
            entity?: components["schemas"]["Entity"] | null;
            /** @description The spaces that the caller may read. */
            spaces: components["schemas"]["SpaceCount"];
            /** @description What the caller may do outside of its own name and messages. */
            capabilities: components["schemas"]["Capability"][];
        };
        /** @description A member of a space. */
        Member: {
            /** @description The entity's id. */
            id: components["schemas"]["EntityId"];
            /** @description The entity's name. */
            name: string;
            /** @description Whether it is a person or an agent. */
            type: components["schemas"]["EntityType"];
            /** @description The member's role. */
            role: components["schemas"]["Role"];
            /**
             * Format: int64
             * @description The `seq` of the last message that the member has read.
             */
            readSeq: number;
            /** @description When the member joined the space. */
            joinedAt: components["schemas"]["Time"];
            /** @description Whether the member is a guest, who came by an invite and has no account. */
            guest?: boolean;
        };
        /**
         * @description The role of the member. Without `role`, a new member gets `member` and an existing one keeps its
         *     role.
         */
        MemberBody: {
            role?: components["schemas"]["Role"] | null;
        };
        /** @description A memory of an agent, under a key that the agent chooses. */
        Memory: {
            /** @description The key, 1 to 128 characters. */
            key: string;
            /** @description The value, 1 to 4,000 characters. */
            value: string;
            /** @description When the memory was last set. */
            updatedAt: components["schemas"]["Time"];
        };
        /** @description The value of a memory. */
        MemoryBody: {
            /** @description 1 to 4,000 characters without NUL. */
            value: string;
        };
        /** @description A mention in a message's text. It has `entityId` or `all`. */
        Mention: {
            entityId?: components["schemas"]["EntityId"] | null;
            /** @description True for `@all`, which mentions every agent of the space; absent otherwise. */
            all?: boolean;
            /**
             * Format: int32
             * @description Where it begins in the text, with its `@`, in UTF-16 code units.
             */
            start: number;
            /**
             * Format: int32
             * @description Where it ends in the text, in UTF-16 code units.
             */
            end: number;
        };
        /**
         * @description Why a message is in a person's list.
         * @enum {string}
         */
        MentionWhy: "mention" | "reply";
        /** @description A message that mentions the caller, or replies to it. */
        Mentioned: {
            /** @description The space of the message. */
            spaceId: components["schemas"]["SpaceId"];
            /** @description The name of the space. */
            spaceName: string;
            /** @description Why it is listed. */
            why: components["schemas"]["MentionWhy"];
            /** @description The message as it is now. */
            message: components["schemas"]["Message"];
        };
        /** @description A message in a space. */
        Message: {
            /** @description The message's id. */
            id: components["schemas"]["MessageId"];
            /** @description The message's space. */
            spaceId: components["schemas"]["SpaceId"];
            /**
             * Format: int64
             * @description The message's position in the space: from 1, without gaps.
             */
            seq: number;
            /**
             * Format: int64
             * @description The revision of the message. Of two states the higher one is newer.
             */
            rev: number;
            /** @description The sender, with its name at the time of posting. */
            sender: components["schemas"]["Sender"];
            /** @description The content: one text part, or a card's tool part, perhaps with a text part; then files. */
            parts: components["schemas"]["Part"][];
            runId: components["schemas"]["RunId"] | null;
            streamId: components["schemas"]["StreamId"] | null;
            /** @description The `Idempotency-Key` that its sender posted it with; absent without one. */
            clientKey?: string | null;
            /**
             * Format: int32
             * @description How many runs lie between the message and its first cause.
             */
            chainDepth: number;
            origin: components["schemas"]["Origin"] | null;
            /** @description The members that its text mentions, in the order of the text; absent without mentions. */
            mentions?: components["schemas"]["Mention"][];
            replyTo?: components["schemas"]["ReplyTo"] | null;
            /**
             * Format: int64
             * @description The first message of the chain of replies that it belongs to; absent if it replies to none.
             */
            thread?: number | null;
            editedAt?: components["schemas"]["Time"] | null;
            /** @description The reactions to it, in the order of their first ones; absent without reactions. */
            reactions?: components["schemas"]["Reaction"][];
            /**
             * Format: int64
             * @description The revision of its reactions. Of two states the higher one is newer. Absent if nobody ever
             *     reacted.
             */
            reactionsRev?: number | null;
            deleted?: components["schemas"]["Deleted"] | null;
            /** @description When the message was posted. */
            createdAt: components["schemas"]["Time"];
            /** @description When the message last changed. */
            updatedAt: components["schemas"]["Time"];
            /** @description The decision for each other agent; absent until it is made. */
            dispatch?: components["schemas"]["Dispatch"][] | null;
            router?: components["schemas"]["Routed"] | null;
            gate?: components["schemas"]["Gate"] | null;
            chainEnded?: components["schemas"]["ChainEnded"] | null;
            /** @description True if the message was cut to fit a frame. Fetch the whole message over HTTP. */
            truncated?: boolean;
        };
        MessageBody: {
            /** @description At most 32,768 bytes without NUL. */
            text?: string;
            /** @description The message's files, each once. They must be ready and belong to this space. */
            attachments?: components["schemas"]["AttachmentId"][];
            senderId?: components["schemas"]["EntityId"] | null;
            /**
             * Format: int64
             * @description The `seq` of the message to which it replies. A reply to an agent's message triggers that
             *     agent as a mention would.
             */
            replyTo?: number | null;
            page?: components["schemas"]["ClientPage"] | null;
        };
        MessageEdit: {
            /** @description At most 32,768 bytes without NUL. */
            text: string;
            rev?: number;
            senderId?: components["schemas"]["EntityId"] | null;
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        MessageId: string;
        /** @description A page of messages. */
        MessagesPage: {
            /** @description The messages of this page. */
            items: components["schemas"]["Message"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
            /**
             * @description The messages to which messages of this page reply and that are not on it. Absent if there
             *     are none.
             */
            parents?: components["schemas"]["ParentMessage"][];
            /**
             * @description The lines between the messages of this page, and after its last one if there is no later
             *     message: the last 100 of them. Absent if there are none, and in a thread.
             */
            lines?: components["schemas"]["SystemLine"][];
        };
        /** @description A model and its settings. */
        ModelConfig: {
            /** @description The model's provider. */
            provider: components["schemas"]["ProviderName"];
            /** @description The model's name at its provider: 1 to 200 bytes without control characters. */
            name: string;
            /**
             * Format: float
             * @description 0 to 2. Null is the provider's default; Anthropic and Bedrock get at most 1.
             */
            temperature?: number | null;
            /**
             * Format: int32
             * @description The longest answer, in tokens.
             * @default 4096
             */
            maxOutputTokens: number;
            /**
             * Format: int32
             * @description How many tokens the model can read.
             * @default 200000
             */
            contextWindow: number;
            reasoning?: components["schemas"]["Reasoning"] | null;
            /** @description Which files the model takes besides text. Null decides by the model's name. */
            sees?: components["schemas"]["SeenFiles"][] | null;
            /**
             * @description Fields that are added to the body of each request to this model, at most 4 KiB of JSON.
             *     Fields that Smartspace sets itself are refused.
             */
            request?: Record<string, unknown>;
            /** @description How the model says what it wants to do. The default is `tools`. */
            speaks?: components["schemas"]["Speaks"];
            /** @description Whether an answer must call a tool. The default is `auto`. */
            toolChoice?: components["schemas"]["ToolChoice"];
            /** @description Models to try, in this order, after the model has failed. */
            fallback?: components["schemas"]["FallbackModel"][];
            script?: components["schemas"]["Script"] | null;
        };
        /** @description A model and its settings. */
        ModelConfigPatch: {
            /** @description The model's provider. */
            provider?: components["schemas"]["ProviderName"];
            /** @description The model's name at its provider: 1 to 200 bytes without control characters. */
            name?: string;
            /**
             * Format: float
             * @description 0 to 2. Null is the provider's default; Anthropic and Bedrock get at most 1.
             */
            temperature?: number | null;
            /**
             * Format: int32
             * @description The longest answer, in tokens.
             */
            maxOutputTokens?: number | null;
            /**
             * Format: int32
             * @description How many tokens the model can read.
             */
            contextWindow?: number | null;
            reasoning?: components["schemas"]["Reasoning"] | null;
            /** @description Which files the model takes besides text. Null decides by the model's name. */
            sees?: components["schemas"]["SeenFiles"][] | null;
            /**
             * @description Fields that are added to the body of each request to this model, at most 4 KiB of JSON.
             *     Fields that Smartspace sets itself are refused.
             */
            request?: Record<string, unknown> | null;
            speaks?: null | components["schemas"]["Speaks"];
            toolChoice?: null | components["schemas"]["ToolChoice"];
            /** @description Models to try, in this order, after the model has failed. */
            fallback?: components["schemas"]["FallbackModel"][] | null;
            script?: components["schemas"]["ScriptPatch"] | null;
        };
        /** @description A message before or after a found one. */
        Neighbour: {
            /** @description The message's id. */
            messageId: components["schemas"]["MessageId"];
            /**
             * Format: int64
             * @description The message's number in the space.
             */
            seq: number;
            /** @description When the message was posted. */
            at: components["schemas"]["Time"];
            /** @description The sender, with its name at the time of posting. */
            sender: components["schemas"]["Sender"];
            /** @description Up to 200 characters of its text. */
            text: string;
        };
        /** @description The request for an upload. */
        NewAttachment: {
            /** @description 1 to 255 characters without control characters, invisible ones, `/` and `\`. */
            name: string;
            /**
             * @description The file's media type.
             * @enum {string}
             */
            contentType: "image/png" | "image/jpeg" | "image/webp" | "image/gif" | "application/pdf" | "text/plain" | "text/markdown" | "text/csv" | "application/json" | "audio/mpeg" | "audio/mp4" | "audio/wav" | "audio/ogg" | "audio/webm" | "audio/flac";
            /**
             * Format: int64
             * @description The file's size.
             */
            bytes: number;
            /** @description The file's SHA-256 in lower case hexadecimal digits. */
            sha256: string;
        };
        /** @description The schema of the body of `POST /v1/entities`: a person or an agent. */
        NewEntity: components["schemas"]["HumanNewEntity"] | components["schemas"]["AgentNewEntity"];
        /** @description The body of `POST /v1/spaces/{id}/invites`. */
        NewInvite: {
            /** @enum {string|null} */
            role?: "member" | null;
            expiresAfter?: components["schemas"]["WrittenDuration"] | null;
            /**
             * Format: int32
             * @description How often it may be used, 1 to 100; once by default.
             * @default 1
             */
            uses: number | null;
        };
        NewSpace: {
            /** @description 1 to 128 characters, not only blanks, without control characters, invisible ones and ones that Unicode does not assign. A joiner or a selector stands only after a character beyond ASCII. */
            name: string;
            /**
             * @description Which agents a message triggers.
             * @default all
             */
            triggerPolicy: components["schemas"]["TriggerPolicy"];
            adminAgentId?: components["schemas"]["EntityId"] | null;
            router?: components["schemas"]["RouterConfig"] | null;
            /**
             * @description The gate, which says without a model who would answer.
             * @default {
             *       "mode": "on",
             *       "dial": "balanced"
             *     }
             */
            gate: components["schemas"]["GateSettings"];
            /**
             * Format: int32
             * @description A message with this chain depth or more triggers no agent. An owner can set at most 5.
             * @default 5
             */
            maxChainDepth: number;
            /**
             * @description Whether an agent answers a person's question that names nobody, although no agent would by
             *     itself. Under the policies `mention` and `admin` none does.
             * @default true
             */
            answerQuestions: boolean;
            /**
             * Format: int32
             * @description How many runs of an agent messages of agents start that do not name it, until a person, or
             *     a run of a plan or a service, posts. An owner can set at most 3.
             * @default 3
             */
            maxAutoReplies: number;
            /**
             * @description In a paused space a message triggers no agent.
             * @default false
             */
            paused: boolean;
            /**
             * @description Limits for the space's runs and costs. An owner can set at most 120 runs a minute, and no
             *     more tokens and dollars than the operator has set.
             * @default {
             *       "tokensPerDay": null,
             *       "costPerDay": null,
             *       "runsPerMinute": 120
             *     }
             */
            budget: components["schemas"]["Budget"];
            /**
             * @description Ids of the first members. Two agents may not have the same name.
             * @default []
             */
            members: components["schemas"]["EntityId"][];
        };
        /**
         * @description What an apply does to an object.
         * @enum {string}
         */
        ObjectAction: "created" | "changed" | "unchanged" | "pruned" | "released" | "failed";
        /**
         * @description A kind of objects that files manage.
         * @enum {string}
         */
        ObjectKind: "agent" | "space" | "plan";
        /** @description What became of an object, or would in a dry run. */
        ObjectResult: {
            /** @description What the object is. */
            kind: components["schemas"]["ObjectKind"];
            /** @description Its name in files. */
            externalId: string;
            /** @description Its id. Absent if it does not exist yet. */
            id?: string | null;
            /** @description What was done to it. */
            action: components["schemas"]["ObjectAction"];
            /**
             * Format: int64
             * @description The newest revision of an agent.
             */
            revision?: number | null;
            /** @description The fields that changed. Empty for a new object. */
            changes: components["schemas"]["FieldChange"][];
            /** @description Managed fields that were changed by hand. */
            drift: components["schemas"]["Drift"][];
            /** @description What is worth a look although nothing is wrong. */
            warnings: string[];
            /** @description Why the object was not written, or would need `force`. */
            error?: string | null;
        };
        /**
         * @description What happens to a call when its time is over.
         * @enum {string}
         */
        OnExpire: "decline" | "end";
        /** @description Why a run posted a message: the run's trigger, and the tools that it had used before. */
        Origin: components["schemas"]["SpaceMessageOrigin"] | components["schemas"]["PlanOrigin"] | components["schemas"]["ServiceOrigin"] | components["schemas"]["OtherOrigin"];
        /** @description What messages led to. */
        Outcome: {
            /**
             * Format: int64
             * @description The runs that the messages triggered.
             */
            wakes: number;
            /**
             * Format: int64
             * @description The pairs of a message and an agent that posted in answer to it.
             */
            answers: number;
        };
        OutputResult: {
            /** @description The answer. It must match the call's `resultSchema` and have at most 32 KiB as JSON. */
            output: unknown;
            senderId?: components["schemas"]["EntityId"] | null;
        };
        /** @description A caller's read position in a space. */
        OwnPosition: {
            /**
             * Format: int64
             * @description The `seq` of the last message that the caller has read.
             */
            readSeq: number;
            /**
             * Format: int64
             * @description How many tool cards there are up to it.
             */
            readCards?: number;
            /**
             * Format: int64
             * @description The number of messages after it, without tool cards.
             */
            unread: number;
        };
        /** @description A tool that a page runs. A call of it waits for at most ten minutes for the member's client. */
        PageTool: {
            /** @description `[A-Za-z_][A-Za-z0-9_-]{0,63}`, unique, and not the name of a tool of an agent in the space. */
            name: string;
            /** @description What the model reads about the tool, at most 4,096 bytes. */
            description?: string;
            /** @description A JSON Schema: an object, `true` or `false`. */
            inputSchema?: unknown;
        };
        /** @description A page of a list, as the API returns it. */
        Page_Allowance: {
            /** @description The items of this page. */
            items: components["schemas"]["Allowance"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_Delivery: {
            /** @description The items of this page. */
            items: components["schemas"]["Delivery"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_Entity: {
            /** @description The items of this page. */
            items: components["schemas"]["Entity"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_Goal: {
            /** @description The items of this page. */
            items: components["schemas"]["Goal"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_InboxItem: {
            /** @description The items of this page. */
            items: components["schemas"]["InboxItem"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_Invite: {
            /** @description The items of this page. */
            items: components["schemas"]["Invite"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_ListedAttachment: {
            /** @description The items of this page. */
            items: components["schemas"]["ListedAttachment"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_ListedPlan: {
            /** @description The items of this page. */
            items: components["schemas"]["ListedPlan"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_Memory: {
            /** @description The items of this page. */
            items: components["schemas"]["Memory"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_Mentioned: {
            /** @description The items of this page. */
            items: components["schemas"]["Mentioned"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_Run: {
            /** @description The items of this page. */
            items: components["schemas"]["Run"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of a list, as the API returns it. */
        Page_Space: {
            /** @description The items of this page. */
            items: components["schemas"]["Space"][];
            /** @description The cursor of the next page. Null on the last page. */
            nextCursor: string | null;
        };
        /** @description A message to which another one replies. */
        ParentMessage: {
            /**
             * Format: int64
             * @description Its position in the space.
             */
            seq: number;
            /** @description Its id. */
            messageId: components["schemas"]["MessageId"];
            /** @description Its sender. */
            sender: components["schemas"]["Sender"];
            /**
             * @description The first 200 characters of its text; of a card, its title, else the question of a form,
             *     else the name of its tool; without a text, the name of its first file. Empty if it is
             *     deleted.
             */
            text: string;
            deleted?: components["schemas"]["Deleted"] | null;
        };
        /** @description A part of a message. */
        Part: components["schemas"]["TextPart"] | components["schemas"]["ToolPart"] | components["schemas"]["FilePart"];
        /** @description A pinned message. */
        PinView: {
            /** @description The pinned message. */
            message: components["schemas"]["Message"];
            pinnedBy: components["schemas"]["Sender"] | null;
            /** @description When it was pinned. */
            pinnedAt: components["schemas"]["Time"];
        };
        /** @description The pinned messages of a space. */
        PinsResponse: {
            /** @description The message that was pinned last comes first. */
            items: components["schemas"]["PinView"][];
        };
        /** @description A plan of an agent. */
        Plan: components["schemas"]["OncePlan"] | components["schemas"]["CronPlan"];
        /**
         * @description A change of a plan, or a new plan. Fields that are left out do not change. A new plan needs a
         *     name, an instruction and exactly one of `runAfter`, `scheduledAt` and `cron`.
         */
        PlanChange: {
            /** @description The plan's name, 1 to 128 characters. */
            name?: string | null;
            /** @description What the agent is to do, 1 to 4,000 characters. */
            instruction?: string | null;
            /** @description Once, after this duration: "30 seconds", "2 hours", "1 day", "1 week"; at most 10 years. */
            runAfter?: string | null;
            /** @description Once, at this time in the future: RFC 3339, or without an offset if `timezone` is given. */
            scheduledAt?: string | null;
            /** @description Repeatedly, by the five fields of cron, at most 200 bytes. */
            cron?: string | null;
            /** @description The IANA time zone of `cron` (default UTC), or of a `scheduledAt` without an offset. */
            timezone?: string | null;
            status?: components["schemas"]["PlanStatus"] | null;
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        PlanId: string;
        /**
         * @description Whether a plan fires.
         * @enum {string}
         */
        PlanStatus: "active" | "paused";
        PreviewResponse: {
            dispatch: components["schemas"]["Dispatch"][];
        };
        /**
         * @description What happens to a call.
         * @enum {string}
         */
        PreviewedVerdict: "make" | "deny" | "ask";
        /** @description An error as problem details (RFC 9457). */
        Problem: {
            /** @description Always `about:blank`: the status says what kind of problem it is. */
            type: string;
            /** @description The name of the status. */
            title: string;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description What is wrong and what was expected. */
            detail: string;
            /** @description `urn:request:` followed by the request's `x-request-id`. Not over a WebSocket. */
            instance?: string | null;
            /** @description All faults of the input, with 422 only. */
            errors?: components["schemas"]["Fault"][] | null;
            /** @description What became of each object, if an apply is refused with 409. */
            results?: components["schemas"]["ObjectResult"][] | null;
        };
        ProjectName: string;
        /** @description What a model received. */
        Prompt: {
            /** @description The texts of the system message. */
            system: string[];
            /** @description The messages of the conversation. */
            messages: unknown[];
        };
        /** @description A provider of models. Its key is never shown. */
        Provider: {
            name: components["schemas"]["ProviderName"];
            /** @description What it speaks. */
            api: components["schemas"]["ProviderApi"];
            /**
             * @description The host of its server, with the port if it is not the usual one. Null if it is not called
             *     over HTTP, or if its address is not valid.
             */
            host: string | null;
            /** @description Whether a key is set. `bedrock` uses AWS credentials, and `scripted` needs none. */
            hasKey: boolean;
            /** @description Whether the server is the deployment's own. */
            own: boolean;
            /**
             * Format: int32
             * @description The most tokens of a request and its answer, if the server is the deployment's own and tells
             *     it; null on AWS, where servers are not asked. Of several models the smallest figure.
             */
            contextWindow: number | null;
        };
        /**
         * @description What a provider speaks.
         * @enum {string}
         */
        ProviderApi: "openai" | "anthropic" | "bedrock" | "scripted";
        ProviderList: {
            /** @description All of them, in the order of their names. */
            items: components["schemas"]["Provider"][];
        };
        /** @description The name of a provider of models. `openai`, `anthropic`, `bedrock` and `scripted` exist in every deployment. */
        ProviderName: string;
        /** @description The reactions to a message with one emoji. */
        Reaction: {
            /** @description The emoji. */
            emoji: string;
            /** @description How many members reacted with it. */
            count: number;
            /** @description The first 50 of them, in the order in which they reacted. */
            entityIds: components["schemas"]["EntityId"][];
        };
        ReactionBody: {
            /**
             * @description One emoji. Forms with and without U+FE0F are the same emoji.
             * @example 👍
             */
            emoji: string;
            /**
             * @description False takes the reaction back.
             * @default true
             */
            on: boolean;
            senderId?: components["schemas"]["EntityId"] | null;
        };
        /** @description All reactions to a message. */
        ReactionsResponse: {
            /**
             * Format: int64
             * @description The message's position in the space.
             */
            seq: number;
            /** @description Its reactions, in the order of their first ones. */
            reactions: components["schemas"]["Reaction"][];
            /**
             * Format: int64
             * @description Their revision. Of two states the higher one is newer.
             */
            reactionsRev: number;
        };
        /** @description The new read position. */
        ReadBody: {
            seq: number;
            entityId?: components["schemas"]["EntityId"] | null;
        };
        ReadResponse: {
            entityId: components["schemas"]["EntityId"] | null;
            /**
             * Format: int64
             * @description The last message that it has read.
             */
            seq: number;
            /**
             * Format: int64
             * @description How many tool cards there are up to it.
             */
            cards: number;
        };
        /**
         * @description Why a message did not trigger an agent. If several reasons apply, the first one counts.
         * @enum {string}
         */
        Reason: "paused" | "chain_stopped" | "chain_depth" | "policy" | "router" | "no_admin" | "auto_replies" | "rate" | "budget" | "busy";
        /**
         * @description How much a model thinks before it answers.
         * @enum {string}
         */
        Reasoning: "off" | "low" | "medium" | "high";
        /** @description The outcome of a delivery. */
        ReceivedResponse: {
            /** @description The delivery. For a repeated delivery it is the first one. */
            deliveryId: components["schemas"]["DeliveryId"];
            runId: components["schemas"]["RunId"] | null;
            reason?: components["schemas"]["Reason"] | null;
        };
        /** @description Which later calls of the tool are made without asking. */
        Remember: {
            /** @description Where. */
            in: components["schemas"]["RememberIn"];
            /** @description A CEL expression, as in a rule. The default is every call. */
            when?: string | null;
            for?: components["schemas"]["WrittenDuration"] | null;
        };
        /**
         * @description Where an allowance counts.
         * @enum {string}
         */
        RememberIn: "space" | "everywhere";
        RemoteEndBody: {
            /**
             * @description How a run of a remote agent ends.
             * @enum {string}
             */
            status: "completed" | "failed";
            /** @description Why it failed, or why it has posted nothing. Members of the space see it. */
            reason?: string | null;
            usage?: components["schemas"]["ReportedUsage"] | null;
        };
        RemoteMessageBody: {
            /** @description At most 32,768 bytes without NUL. */
            text?: string;
            /** @description The message's files, each once. They must be ready and belong to the message's space. */
            attachments?: components["schemas"]["AttachmentId"][];
            /** @description The `streamKey` of the text that the message replaces. */
            streamKey?: string | null;
            spaceId?: components["schemas"]["SpaceId"] | null;
            /**
             * Format: int64
             * @description The `seq` of the message to which it replies, or 0 for none. The default is the message that
             *     triggered the run, if that is a person's reply in the space of the message.
             */
            replyTo?: number | null;
        };
        RemoteReactionBody: {
            seq: number;
            /**
             * @description One emoji. Forms with and without U+FE0F are the same emoji.
             * @example 👍
             */
            emoji: string;
            /**
             * @description False takes the reaction back.
             * @default true
             */
            on: boolean;
            spaceId?: components["schemas"]["SpaceId"] | null;
        };
        RemoteTextBody: {
            /** @description Names the text within the run. The message that replaces it has the same key. */
            streamKey: string;
            /** @description The position of `text` in the whole text, in UTF-16 code units. */
            offset: number;
            /** @description The next piece; or all of the text so far, if it is a snapshot. */
            text: string;
            /**
             * @description True if `text` is all of the text so far. Then `offset` is 0.
             * @default false
             */
            snapshot: boolean;
            spaceId?: components["schemas"]["SpaceId"] | null;
        };
        /** @description The message that a reply answers: its parent. */
        ReplyTo: {
            /**
             * Format: int64
             * @description The parent's position in the space.
             */
            seq: number;
            messageId: components["schemas"]["MessageId"] | null;
            senderId: components["schemas"]["EntityId"] | null;
        };
        /** @description What a remote agent says that its run has used. */
        ReportedUsage: {
            /**
             * Format: int64
             * @description Tokens read.
             * @default 0
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description Tokens written.
             * @default 0
             */
            outputTokens: number;
            /**
             * Format: double
             * @description Dollars. Absent if the agent does not know.
             * @default null
             */
            cost: number | null;
        };
        /** @description Who answered a form. */
        ResolvedBy: components["schemas"]["EntityId"] | components["schemas"]["OperatorResolvedBy"];
        /** @description Where a model answer comes from. */
        ResponseOrigin: {
            /** @description The answer's id at its provider; absent if the provider gave none. */
            responseId?: string | null;
            /** @description The model that answered, as its provider names it; absent if the provider named none. */
            responseModel?: string | null;
            /** @description The host of the provider's server; absent if the provider is not reached over a base URL. */
            server?: string | null;
        };
        /** @description A picture that a call has returned, or a file of its answer. */
        ReturnedFile: {
            /** @description The file. */
            attachmentId: components["schemas"]["AttachmentId"];
            /** @description Its name. */
            name: string;
            /** @description Its media type. */
            contentType: string;
            /**
             * Format: int64
             * @description Its size.
             */
            bytes: number;
            /**
             * Format: int32
             * @description The width of a picture in pixels.
             */
            width?: number | null;
            /**
             * Format: int32
             * @description The height of a picture in pixels.
             */
            height?: number | null;
            /** @description Whether the file was deleted. It can no longer be downloaded. */
            deleted?: boolean;
            /** @description The space that keeps it. */
            spaceId: components["schemas"]["SpaceId"];
        };
        /** @description A revision of an agent. */
        Revision: {
            /**
             * Format: int64
             * @description Its number: 1 when the agent was created, and one more after each change.
             */
            revision: number;
            /** @description When the change was made. */
            at: components["schemas"]["Time"];
            /** @description Who made it. */
            by: components["schemas"]["Actor"];
            /** @description What made it. */
            source: components["schemas"]["RevisionSource"];
            /** @description The fields that it changed, by pointer. Empty for the first revision. */
            changes: components["schemas"]["FieldChange"][];
        };
        /** @description What made a revision. */
        RevisionSource: components["schemas"]["ApiRevisionSource"] | components["schemas"]["ApplyRevisionSource"] | components["schemas"]["RestoreRevisionSource"] | components["schemas"]["UnknownRevisionSource"];
        /** @description The revisions of an agent. */
        Revisions: {
            /** @description The newest first, 50 at most. Older ones are not kept. */
            items: components["schemas"]["Revision"][];
        };
        /**
         * @description The role of a member.
         * @enum {string}
         */
        Role: "owner" | "member";
        /** @description A question to a router. Only the operator and the owners of the space read its model and usage. */
        Routed: {
            /** @description `provider/model`. Absent, as `usage`, unless the reader is an owner or the operator. */
            model?: string | null;
            usage?: components["schemas"]["Usage"] | null;
            /**
             * Format: int64
             * @description The time until it answered or was given up, in milliseconds.
             */
            latencyMs: number;
            /**
             * @description Why its choice is not known; absent if it is. Then the gate decided alone, and without a
             *     gate every agent was triggered. If the sender's messages have asked routers too often, it
             *     triggered none of the agents about which it would have been asked.
             */
            error?: string | null;
        };
        /**
         * @description The model that chooses which agents a message triggers, if the message mentions none. At most 64
         *     KiB of JSON.
         */
        RouterConfig: {
            model?: components["schemas"]["RouterModel"] | null;
            /**
             * @description What the model should know besides the agents' descriptions, at most 32 KiB. An owner can
             *     write at most 2,000 characters.
             */
            instructions?: string | null;
            /**
             * Format: int32
             * @description How many agents it chooses at most.
             * @default 3
             */
            maxAgents: number;
            /**
             * Format: int64
             * @description How long it may take for an answer, in milliseconds. The default is 5,000, and 30,000 for a
             *     model on a server of the deployment's own.
             */
            timeoutMs?: number | null;
        };
        /**
         * @description The model that chooses which agents a message triggers, if the message mentions none. At most 64
         *     KiB of JSON.
         */
        RouterConfigPatch: {
            model?: components["schemas"]["RouterModelPatch"] | null;
            /**
             * @description What the model should know besides the agents' descriptions, at most 32 KiB. An owner can
             *     write at most 2,000 characters.
             */
            instructions?: string | null;
            /**
             * Format: int32
             * @description How many agents it chooses at most.
             */
            maxAgents?: number | null;
            /**
             * Format: int64
             * @description How long it may take for an answer, in milliseconds. The default is 5,000, and 30,000 for a
             *     model on a server of the deployment's own.
             */
            timeoutMs?: number | null;
        };
        /** @description A router's model. */
        RouterModel: {
            /** @description The model's provider. */
            provider: components["schemas"]["ProviderName"];
            /** @description The model's name at its provider: 1 to 200 bytes without control characters. */
            name: string;
            script?: components["schemas"]["RouterScript"] | null;
        };
        /** @description A router's model. */
        RouterModelPatch: {
            /** @description The model's provider. */
            provider?: components["schemas"]["ProviderName"];
            /** @description The model's name at its provider: 1 to 200 bytes without control characters. */
            name?: string;
            script?: components["schemas"]["RouterScriptPatch"] | null;
        };
        /** @description One rule of a router's script. */
        RouterRule: {
            /** @description Which agents the router chooses, and when. */
            choose: components["schemas"]["ScriptedChoice"];
        };
        /**
         * @description The script of a router. The first rule that matches the message is played. If none matches, the
         *     router does not answer.
         */
        RouterScript: {
            /**
             * Format: int64
             * @description Milliseconds between two words.
             */
            wordDelayMs?: number;
            /** @description The rules, tried in order. */
            rules: components["schemas"]["RouterRule"][];
        };
        /**
         * @description The script of a router. The first rule that matches the message is played. If none matches, the
         *     router does not answer.
         */
        RouterScriptPatch: {
            /**
             * Format: int64
             * @description Milliseconds between two words.
             */
            wordDelayMs?: number | null;
            /** @description The rules, tried in order. */
            rules?: components["schemas"]["RouterRule"][];
        };
        /** @description One rule of a script. */
        Rule: {
            /** @description When the rule matches. Without fields it always matches. */
            when?: components["schemas"]["When"];
            /** @description The answers: the n-th step is the n-th answer of the run. After the last one the run ends. */
            steps: components["schemas"]["ScriptStep"][];
        };
        /**
         * @description What a rule does with a call.
         * @enum {string}
         */
        RuleAction: "ask" | "deny";
        /** @description A run of an agent. */
        Run: {
            /** @description The run's id. */
            id: components["schemas"]["RunId"];
            /** @description The run's agent. */
            agentId: components["schemas"]["EntityId"];
            /** @description The run's status. */
            status: components["schemas"]["RunStatus"];
            endReason: components["schemas"]["EndReason"] | null;
            /**
             * @description The reason that the agent gave when it called `skip_response`, or that a remote agent gave
             *     when it completed the run, up to 300 characters. Absent without one.
             */
            reason?: string | null;
            /**
             * @description The numbers of the messages besides its trigger that the run answers, too. Absent if there
             *     are none.
             */
            joined?: number[];
            intoRunId?: components["schemas"]["RunId"] | null;
            retryOf?: components["schemas"]["RunId"] | null;
            forkOf?: components["schemas"]["ForkOf"] | null;
            /** @description Why the run was started. */
            trigger: components["schemas"]["RunTrigger"];
            activeSpaceId: components["schemas"]["SpaceId"] | null;
            /**
             * Format: int32
             * @description The chain depth of the run's trigger.
             */
            chainDepth: number;
            chainId?: components["schemas"]["ChainId"] | null;
            /**
             * Format: int32
             * @description 1, plus 1 for each takeover after a lost lease.
             */
            attempt: number;
            /**
             * Format: int32
             * @description The number of stored model answers.
             */
            stepCount: number;
            /**
             * Format: int64
             * @description The revision of the agent that the run's last worker had. Absent before the first answer is
             *     stored, for a remote agent, and for members who are no owners.
             */
            configRevision?: number | null;
            usage?: components["schemas"]["Usage"] | null;
            /** @description True if a remote agent works on the run. Absent otherwise. */
            remote?: boolean;
            reportedUsage?: components["schemas"]["ReportedUsage"] | null;
            error: components["schemas"]["RunError"] | null;
            /** @description When the run was queued. */
            createdAt: components["schemas"]["Time"];
            startedAt: components["schemas"]["Time"] | null;
            firstTokenAt?: components["schemas"]["Time"] | null;
            finishedAt: components["schemas"]["Time"] | null;
            redactedAt?: components["schemas"]["Time"] | null;
            /**
             * @description The beginning of the message that triggered the run. Absent unless a list is asked for
             *     `messages`, as the next three, and if there is none.
             */
            asked?: string | null;
            askedBy?: components["schemas"]["Sender"] | null;
            /**
             * Format: int64
             * @description The number of the first message that the run has posted.
             */
            postSeq?: number | null;
            /** @description The beginning of that message. */
            said?: string | null;
            /** @description The messages of watchers to the model, as members may see them. Not in events. */
            hints?: components["schemas"]["Hint"][] | null;
            /** @description The run's steps. Only for the operator, and not in lists. */
            steps?: components["schemas"]["Step"][] | null;
        };
        /** @description Why a run failed. */
        RunError: {
            /** @description What went wrong. */
            code: components["schemas"]["FailureCode"];
            /**
             * @description An explanation for people. The operator gets the provider's own words, without secrets;
             *     others get what the code means.
             */
            message: string;
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        RunId: string;
        /**
         * @description The status of a run.
         *
         *     `queued → running → completed | failed`, and `running → waiting_tool → running`. A run that is
         *     queued, running or waiting can become `canceled`.
         * @enum {string}
         */
        RunStatus: "queued" | "running" | "waiting_tool" | "completed" | "failed" | "canceled";
        /** @description Why the run was started: all of it in the answers of calls about one run, and without its texts in lists and events. Readers who may know no more see only `type`. */
        RunTrigger: components["schemas"]["Trigger"] | components["schemas"]["TriggerReference"] | components["schemas"]["HiddenTrigger"];
        /**
         * @description Where a remote agent works. It has no model here. When it is woken, a signed webhook carries its
         *     run to `url`, and it answers with the token that comes along.
         */
        Runtime: {
            /** @description How the agent is woken. */
            type: components["schemas"]["RuntimeType"];
            /**
             * @description The address that gets the webhook: `https://` or `http://`, at most 2,048 bytes. It must be
             *     public, or listed in `SMARTSPACE_TOOL_HOSTS`. Redirects are not followed.
             */
            url: string;
            /**
             * @description `${secret.NAME}`: the secret of this deployment that signs the webhook, as Standard Webhooks
             *     writes secrets.
             */
            secret: string;
            /**
             * Format: int32
             * @description How long a run may take, in seconds. Then it fails.
             * @default 900
             */
            timeoutSeconds: number;
        };
        /**
         * @description Where a remote agent works. It has no model here. When it is woken, a signed webhook carries its
         *     run to `url`, and it answers with the token that comes along.
         */
        RuntimePatch: {
            /** @description How the agent is woken. */
            type?: components["schemas"]["RuntimeType"];
            /**
             * @description The address that gets the webhook: `https://` or `http://`, at most 2,048 bytes. It must be
             *     public, or listed in `SMARTSPACE_TOOL_HOSTS`. Redirects are not followed.
             */
            url?: string;
            /**
             * @description `${secret.NAME}`: the secret of this deployment that signs the webhook, as Standard Webhooks
             *     writes secrets.
             */
            secret?: string;
            /**
             * Format: int32
             * @description How long a run may take, in seconds. Then it fails.
             */
            timeoutSeconds?: number | null;
        };
        /**
         * @description How a remote agent is woken.
         * @enum {string}
         */
        RuntimeType: "webhook";
        /**
         * @description A script. The first rule that matches the run's trigger is played. If none matches, the model
         *     says nothing and the run ends.
         */
        Script: {
            /**
             * Format: int64
             * @description Milliseconds between two words.
             */
            wordDelayMs?: number;
            /** @description The rules, tried in order. */
            rules?: components["schemas"]["Rule"][];
        };
        /**
         * @description A tool call of the scripted model. Texts of `input` may hold placeholders such as `{{message}}`
         *     and `{{sender}}`.
         */
        ScriptCall: {
            /** @description The tool's name. */
            tool: string;
            /** @description The call's input. */
            input?: unknown;
        };
        /**
         * @description How a scripted step fails.
         * @enum {string}
         */
        ScriptError: "rate_limited" | "overloaded" | "context_too_long" | "bad_request" | "broken_stream";
        /**
         * @description A script. The first rule that matches the run's trigger is played. If none matches, the model
         *     says nothing and the run ends.
         */
        ScriptPatch: {
            /**
             * Format: int64
             * @description Milliseconds between two words.
             */
            wordDelayMs?: number | null;
            /** @description The rules, tried in order. */
            rules?: components["schemas"]["Rule"][] | null;
        };
        /** @description One answer of the scripted model. */
        ScriptStep: {
            /** @description What the model writes besides its calls. It is posted nowhere. */
            text?: string;
            /** @description The tool calls of the answer. A step without calls ends the run. */
            calls?: components["schemas"]["ScriptCall"][];
            error?: components["schemas"]["ScriptError"] | null;
        };
        /** @description An agent in a choice of a scripted router. */
        ScriptedAgent: {
            /** @description The agent's name. */
            name: string;
            /** @description Why it is chosen or left out. */
            reason?: string;
        };
        /** @description A choice of a scripted router. */
        ScriptedChoice: {
            /** @description When the rule matches. Without fields it always matches. */
            when?: components["schemas"]["When"];
            /** @description The agents that it chooses; may be empty. */
            agents: components["schemas"]["ScriptedAgent"][];
            /** @description Agents that it leaves out, with its reasons. */
            others?: components["schemas"]["ScriptedAgent"][];
        };
        /** @description The items of a search that one call has found. */
        SearchAnswer: {
            /**
             * @description The found messages in the order of `sort`. There may be fewer than `limit` although more
             *     follow.
             */
            items: components["schemas"]["FoundMessage"][];
            /** @description What this call has searched. */
            searched: components["schemas"]["Searched"];
            /** @description True if there are older messages or other spaces that this call has not searched. */
            incomplete: boolean;
            /** @description The words of the query that were ignored, because it has too many; absent if all count. */
            ignored?: string[];
            /** @description The cursor of the next items. Null if there are no more. */
            nextCursor: string | null;
        };
        /** @description What one call of a search has searched. */
        Searched: {
            /** @description How many spaces. */
            spaces: number;
            /**
             * Format: int64
             * @description How many messages.
             */
            messages: number;
            from: components["schemas"]["Time"] | null;
        };
        /**
         * @description A kind of files that a model takes besides text.
         * @enum {string}
         */
        SeenFiles: "images" | "pdf";
        /**
         * @description The sender of a message. It is stored with the message, so it does not change if the entity is
         *     renamed or removed.
         */
        Sender: {
            /** @description The entity's id. */
            id: components["schemas"]["EntityId"];
            /** @description The entity's name when it sent the message. */
            name: string;
            /** @description Whether it is a person or an agent. */
            type: components["schemas"]["EntityType"];
            /** @description True if it is a guest of the space, who has no account. Absent for all others. */
            guest?: boolean;
        };
        ServiceName: string;
        /** @description A file, and where to download it. */
        ShownAttachment: {
            /** @description The file's id. */
            id: components["schemas"]["AttachmentId"];
            /** @description The space that the file belongs to. */
            spaceId: components["schemas"]["SpaceId"];
            /** @description The file's name. */
            name: string;
            /** @description The file's media type. */
            contentType: string;
            /**
             * Format: int64
             * @description The file's size.
             */
            bytes: number;
            /** @description The file's SHA-256 in hexadecimal digits. */
            sha256: string;
            /**
             * Format: int32
             * @description The width of a picture in pixels.
             */
            width?: number | null;
            /**
             * Format: int32
             * @description The height of a picture in pixels.
             */
            height?: number | null;
            /** @description How far the upload is. */
            status: components["schemas"]["AttachmentStatus"];
            /** @description Why the file was refused, for people. */
            reason?: string | null;
            createdBy: components["schemas"]["EntityId"] | null;
            /** @description When the upload was asked for. */
            createdAt: components["schemas"]["Time"];
            /**
             * @description The file can be downloaded here, without a credential. Browsers save it, and show it only in
             *     an `<img>`. Null unless the file is ready.
             */
            url: string | null;
            urlExpiresAt: components["schemas"]["Time"] | null;
        };
        ShownInvite: {
            /** @description The invite's token. */
            token: string;
        };
        /** @description A revision, with what the agent was then. */
        ShownRevision: {
            /**
             * Format: int64
             * @description Its number: 1 when the agent was created, and one more after each change.
             */
            revision: number;
            /** @description When the change was made. */
            at: components["schemas"]["Time"];
            /** @description Who made it. */
            by: components["schemas"]["Actor"];
            /** @description What made it. */
            source: components["schemas"]["RevisionSource"];
            /** @description The fields that it changed, by pointer. Empty for the first revision. */
            changes: components["schemas"]["FieldChange"][];
            /** @description The agent's name. */
            name: string;
            /** @description The agent's configuration. */
            agent: components["schemas"]["AgentConfig"];
        };
        /**
         * @description Why a message triggered an agent. If several reasons apply, the first one counts.
         * @enum {string}
         */
        Source: "delegated" | "admin" | "mention" | "reply" | "auto" | "partner" | "router" | "unanswered" | "broadcast";
        Space: {
            /** @description 1 to 128 characters, not only blanks, without control characters, invisible ones and ones that Unicode does not assign. A joiner or a selector stands only after a character beyond ASCII. */
            name: string;
            /**
             * @description Which agents a message triggers.
             * @default all
             */
            triggerPolicy: components["schemas"]["TriggerPolicy"];
            adminAgentId: components["schemas"]["EntityId"] | null;
            router?: components["schemas"]["RouterConfig"] | null;
            /**
             * @description The gate, which says without a model who would answer.
             * @default {
             *       "mode": "on",
             *       "dial": "balanced"
             *     }
             */
            gate: components["schemas"]["GateSettings"];
            /**
             * Format: int32
             * @description A message with this chain depth or more triggers no agent. An owner can set at most 5.
             * @default 5
             */
            maxChainDepth: number;
            /**
             * @description Whether an agent answers a person's question that names nobody, although no agent would by
             *     itself. Under the policies `mention` and `admin` none does.
             * @default true
             */
            answerQuestions: boolean;
            /**
             * Format: int32
             * @description How many runs of an agent messages of agents start that do not name it, until a person, or
             *     a run of a plan or a service, posts. An owner can set at most 3.
             * @default 3
             */
            maxAutoReplies: number;
            /**
             * @description In a paused space a message triggers no agent.
             * @default false
             */
            paused: boolean;
            /** @description The limits for the space's runs and costs. */
            budget?: components["schemas"]["Budget"];
            /** @description The space's id. */
            id: components["schemas"]["SpaceId"];
            managedBy?: components["schemas"]["ManagedBy"] | null;
            /**
             * Format: int64
             * @description The `seq` of the space's last message.
             */
            seq: number;
            /**
             * Format: int64
             * @description How many of its messages are tool cards.
             */
            cards: number;
            lastMessage?: components["schemas"]["LastMessage"] | null;
            /** @description When the space was created. */
            createdAt: components["schemas"]["Time"];
            /** @description The members, people and agents. */
            members: components["schemas"]["Member"][];
            /** @description The `seq` of the pinned messages, in the order in which they were pinned; absent without. */
            pins?: number[];
            me: components["schemas"]["OwnPosition"] | null;
            looked?: components["schemas"]["Looked"] | null;
        };
        SpaceCount: {
            /** @description How many there are. */
            count: number;
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        SpaceId: string;
        /** @description The settings of a space: the document that a merge patch changes. */
        SpacePatch: {
            /** @description 1 to 128 characters, not only blanks, without control characters, invisible ones and ones that Unicode does not assign. A joiner or a selector stands only after a character beyond ASCII. */
            name?: string;
            triggerPolicy?: null | components["schemas"]["TriggerPolicy"];
            adminAgentId?: components["schemas"]["EntityId"] | null;
            router?: components["schemas"]["RouterConfigPatch"] | null;
            gate?: null | components["schemas"]["GatePatch"];
            /**
             * Format: int32
             * @description A message with this chain depth or more triggers no agent. An owner can set at most 5.
             */
            maxChainDepth?: number | null;
            /**
             * @description Whether an agent answers a person's question that names nobody, although no agent would by
             *     itself. Under the policies `mention` and `admin` none does.
             */
            answerQuestions?: boolean | null;
            /**
             * Format: int32
             * @description How many runs of an agent messages of agents start that do not name it, until a person, or
             *     a run of a plan or a service, posts. An owner can set at most 3.
             */
            maxAutoReplies?: number | null;
            /** @description In a paused space a message triggers no agent. */
            paused?: boolean | null;
            budget?: null | components["schemas"]["BudgetPatch"];
        };
        /**
         * @description Which of an agent's spaces its prompt lists.
         * @enum {string}
         */
        SpacesShown: "all" | "active";
        /** @description A piece of an excerpt. */
        Span: {
            /**
             * Format: int32
             * @description Where it begins, in UTF-16 code units.
             */
            start: number;
            /**
             * Format: int32
             * @description Where it ends, in UTF-16 code units.
             */
            end: number;
        };
        /**
         * @description How a model says what it wants to do.
         * @enum {string}
         */
        Speaks: "tools" | "json";
        /** @description An upload that may be started. */
        StartedUpload: {
            /** @description The file, for messages. */
            attachmentId: components["schemas"]["AttachmentId"];
            /**
             * @description Send the bytes here, in one `PUT` with these `headers` and without a credential. The address
             *     is on the origin of the storage. The answer is 412 if the bytes have arrived before.
             */
            uploadUrl: string;
            /** @description The headers that the `PUT` must have. */
            headers: {
                [key: string]: string;
            };
            /** @description When the upload must have started. */
            expiresAt: components["schemas"]["Time"];
        };
        /** @description One model answer with its tool calls. */
        Step: {
            /**
             * Format: int32
             * @description The position of the step in its run, from 0. The last one may be under way.
             */
            index: number;
            /**
             * Format: int32
             * @description The run's `attempt` that made the step.
             */
            attempt: number;
            /**
             * Format: int64
             * @description The revision of the agent with which the model was asked: a worker that takes a run over
             *     reads the configuration anew. Absent while the step is under way, and for a remote agent.
             */
            configRevision?: number | null;
            /**
             * @description The model that answered, as `provider/model`. If the step is under way: the agent's model,
             *     which is asked first.
             */
            model: string;
            /** @description Where the answer comes from. Absent if nothing is known of it. */
            origin?: components["schemas"]["ResponseOrigin"];
            /** @description What the model received: the whole prompt in step 0, later only what was added. */
            prompt: components["schemas"]["Prompt"];
            /**
             * Format: int32
             * @description How many of the run's oldest tool results this question cut, because most of the model's
             *     window was used. Absent if none.
             */
            cutResults?: number | null;
            /**
             * Format: int64
             * @description How many leading UTF-16 code units of the prompt equal those of the previous run of this
             *     agent in this space: providers read these from their cache. Only in step 0 of a run whose
             *     predecessor is still stored.
             */
            sharedPrefix?: number | null;
            /** @description The names of the tools that the model could call. Absent without any. */
            tools?: string[];
            /** @description What watchers added before the step. */
            systemMessages: components["schemas"]["SystemMessage"][];
            /** @description What the model wrote besides its calls. It is private and posted nowhere. */
            text: string;
            /**
             * @description What the model thought, in the form in which its provider sent it, signatures included. The
             *     next steps send it back to the same model. Only the operator sees it. Absent if the provider
             *     sent none.
             */
            thinking?: unknown;
            /** @description The tool calls. */
            calls: components["schemas"]["Call"][];
            /**
             * @description True if the run was canceled while the model wrote the answer: the text and the inputs end
             *     where it was stopped.
             */
            partial?: boolean;
            finishReason: components["schemas"]["FinishReason"] | null;
            /** @description The tokens and the cost of the answer. */
            usage: components["schemas"]["Usage"];
            /** @description When the model was called. */
            startedAt: components["schemas"]["Time"];
            firstTokenAt: components["schemas"]["Time"] | null;
            finishedAt: components["schemas"]["Time"] | null;
        };
        /** @description What a stop has done. */
        StopResponse: {
            /** @description How many runs this request has canceled. */
            canceledRuns: number;
            /** @description The line that reports the stop. If it was stopped before, the line of that stop. */
            line: components["schemas"]["SystemLine"];
        };
        /** @description Opaque: do not parse it, and do not sort by it. */
        StreamId: string;
        StreamedResponse: {
            streamId: components["schemas"]["StreamId"];
        };
        /** @description A call that is not made. */
        SuggestedCall: {
            /** @description The name of the tool, as the model sees it. */
            tool: string;
            /** @description The input, at most 64 KiB of JSON. */
            input: unknown;
            spaceId?: components["schemas"]["SpaceId"] | null;
        };
        /** @description A line between the messages of a space. */
        SystemLine: {
            /** @description The line's id. */
            id: components["schemas"]["LineId"];
            /**
             * Format: int64
             * @description The `seq` of the newest message at that time, 0 if there was none. Lines after the same
             *     message are in the order of their ids.
             */
            afterSeq: number;
            /** @description When it happened. */
            at: components["schemas"]["Time"];
            by: components["schemas"]["Sender"] | null;
            /** @description What the line reports. */
            kind: components["schemas"]["LineKind"];
            member?: components["schemas"]["Sender"] | null;
            /** @description The name or the policy before. Absent if the line reports no such change. */
            from?: string | null;
            /** @description The name or the policy after. Absent if the line reports no such change. */
            to?: string | null;
            /**
             * Format: int64
             * @description The message whose chain was stopped. Absent otherwise.
             */
            seq?: number | null;
        };
        /** @description A message for the model that a watcher added between two steps. */
        SystemMessage: {
            /** @description The watcher's name. */
            watcher: string;
            /** @description The text of the message. */
            text: string;
        };
        TakenResponse: {
            runId: components["schemas"]["RunId"];
            callId: components["schemas"]["CallId"];
        };
        /**
         * @description `entityId` is the entity that the connection acts as. Without it, a connection of the operator
         *     may follow every space. `protocol` is true for a connection that serves a client of another
         *     protocol. An entity has fewer of these.
         */
        TicketBody: {
            entityId?: components["schemas"]["EntityId"] | null;
            protocol?: boolean;
        };
        TicketResponse: {
            ticket: string;
            url: string;
            expiresAt: components["schemas"]["Time"];
        };
        /**
         * Format: date-time
         * @description A time in RFC 3339, in UTC and with milliseconds.
         */
        Time: string;
        /** @description A configured tool of an agent. */
        Tool: {
            /** @description `[A-Za-z_][A-Za-z0-9_]{0,63}`, unique, and not the name of a built-in tool. */
            name: string;
            /** @description What the model reads about the tool, at most 4,096 bytes. */
            description: string;
            /** @description What the row of a call's card says in place of the tool's name, on one line. It may hold values of the call, as in `Deploy {input.version}: {output.status}`. */
            title?: string | null;
            /** @description A JSON Schema: an object, `true` or `false`. */
            inputSchema?: unknown;
            /**
             * @description Whether each call is shown in the space as a card. Forms and pictures are always shown.
             * @default false
             */
            visible: boolean;
            /**
             * @description Whether a call changes nothing. Matters for `loop.continueOn: "writes"`.
             * @default false
             */
            readOnly: boolean;
            /**
             * @description Whether a call may be repeated with the same `Idempotency-Key`.
             * @default false
             */
            idempotent: boolean;
            targetSpaceId?: components["schemas"]["SpaceId"] | null;
            /** @description How a call is executed. */
            execution: components["schemas"]["Execution"];
        };
        /**
         * @description Whether an answer must call a tool.
         * @enum {string}
         */
        ToolChoice: "auto" | "required";
        /** @description The result of a tool call: an output, or a refusal to answer. */
        ToolResult: components["schemas"]["OutputResult"] | components["schemas"]["DeclinedResult"];
        /** @description A call to be made. It has either a `tool` or an `mcp`. */
        ToolTest: {
            tool?: components["schemas"]["Tool"] | null;
            mcp?: components["schemas"]["McpToolTest"] | null;
            /** @description The input of the call. */
            input?: unknown;
        };
        /** @description What a call has returned. */
        ToolTestResult: {
            /**
             * Format: int32
             * @description The HTTP status of the answer; null without one, and for tools of MCP servers.
             */
            status: number | null;
            /**
             * Format: int64
             * @description How long the call took.
             */
            milliseconds: number;
            /** @description Whether the call failed. */
            isError: boolean;
            /** @description The result as a model reads it: JSON, cut to 32 KiB, with secrets replaced. */
            result: string;
        };
        /** @description Why a run was started. */
        Trigger: components["schemas"]["SpaceMessageTrigger"] | components["schemas"]["PlanTrigger"] | components["schemas"]["ServiceTrigger"];
        TriggerBody: {
            /** @description The service that the payload comes from. */
            service: components["schemas"]["ServiceName"];
            /** @description Any JSON of at most 128 KiB. Whole numbers must fit 64 bits. */
            payload: unknown;
        };
        /**
         * @description The type of a trigger.
         * @enum {string}
         */
        TriggerKind: "space_message" | "plan" | "service";
        /**
         * @description Which agents a message triggers.
         * @enum {string}
         */
        TriggerPolicy: "all" | "mention" | "router" | "partner" | "admin";
        /** @description A trigger without its texts, as events and lists of runs carry it. */
        TriggerReference: components["schemas"]["SpaceMessageTriggerReference"] | components["schemas"]["PlanTriggerReference"] | components["schemas"]["ServiceTriggerReference"];
        /** @description The tokens and the cost of one or more model calls. */
        Usage: {
            /**
             * Format: int64
             * @description Tokens read, including cached ones.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description Of the tokens read, those read from the provider's cache.
             */
            cachedTokens: number;
            /**
             * Format: int64
             * @description Of the tokens read, those written to the provider's cache.
             */
            cacheWriteTokens: number;
            /**
             * Format: int64
             * @description Tokens written. A picture counts as its provider says, or as a token for 750 pixels.
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description Pictures drawn. Absent if none.
             */
            images?: number;
            /**
             * Format: double
             * @description Dollars; null if no price is known and the model runs on a server of the deployment's own.
             */
            cost: number | null;
            /**
             * @description Whether a model without a price was asked. Then `cost` counts it with the highest price of
             *     its provider, or as free on a server of the deployment's own. Absent if not.
             */
            priceUnknown?: boolean;
        };
        /** @description The usage of one group. */
        UsageItem: {
            /**
             * Format: int64
             * @description Tokens read, including cached ones.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description Of the tokens read, those read from the provider's cache.
             */
            cachedTokens: number;
            /**
             * Format: int64
             * @description Of the tokens read, those written to the provider's cache.
             */
            cacheWriteTokens: number;
            /**
             * Format: int64
             * @description Tokens written. A picture counts as its provider says, or as a token for 750 pixels.
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description Pictures drawn. Absent if none.
             */
            images?: number;
            /**
             * Format: double
             * @description Dollars; null if no price is known and the model runs on a server of the deployment's own.
             */
            cost: number | null;
            /**
             * @description Whether a model without a price was asked. Then `cost` counts it with the highest price of
             *     its provider, or as free on a server of the deployment's own. Absent if not.
             */
            priceUnknown?: boolean;
            /** @description The day, in UTC, such as `2026-02-18`. Only if the sums are grouped by day. */
            day?: string | null;
            agentId?: components["schemas"]["EntityId"] | null;
            /** @description The name that it has now, or had when it was retired. */
            agentName?: string | null;
            spaceId?: components["schemas"]["SpaceId"] | null;
            /** @description The name that the space has now. Absent if the space was deleted. */
            spaceName?: string | null;
            /** @description The provider. Only if the sums are grouped by model. */
            provider?: string | null;
            /** @description The model's name at its provider. Only if the sums are grouped by model. */
            model?: string | null;
            /**
             * Format: int64
             * @description Runs that ended and had asked a model.
             */
            runs: number;
            /** @description The cost of each hour of the day in UTC, in dollars. Only if the sums are grouped by day. */
            hours?: number[] | null;
        };
        /** @description The answer to a question about usage. */
        UsageReport: {
            /** @description The sums, ordered by day, agent, space and model. */
            items: components["schemas"]["UsageItem"][];
            /** @description The sum of all items. */
            total: components["schemas"]["UsageItem"];
        };
        /** @description How a service's webhook is signed. */
        Webhook: {
            /** @description The scheme of the service's signatures. */
            scheme: components["schemas"]["WebhookScheme"];
            secrets: string[];
        };
        /** @description How a service's webhook is signed. */
        WebhookPatch: {
            /** @description The scheme of the service's signatures. */
            scheme?: components["schemas"]["WebhookScheme"];
            secrets?: string[];
        };
        /**
         * @description A scheme of webhook signatures.
         * @enum {string}
         */
        WebhookScheme: "standard" | "github" | "stripe" | "slack";
        /** @description The triggers that a rule matches: all given fields must match. */
        When: {
            trigger?: components["schemas"]["TriggerKind"] | null;
            sender?: components["schemas"]["EntityType"] | null;
            source?: components["schemas"]["Source"] | null;
            /** @description A part of the message, the instruction or the payload. Case is ignored. */
            contains?: string | null;
        };
        /**
         * @description What a score leads to.
         * @enum {string}
         */
        Would: "wake" | "ask" | "silent";
        /** @description A duration like `30 seconds`, `2 hours`, `1 day` or `1 week`. */
        WrittenDuration: string;
        /** @description The holder of the admin key. */
        AdminKeyActor: {
            /** @enum {string} */
            kind: "admin_key";
        };
        /** @description A person or an agent, with a token of its own. */
        EntityActor: {
            /** @description The entity's id. */
            id: components["schemas"]["EntityId"];
            /** @enum {string} */
            kind: "entity";
        };
        /** @description Somebody of a kind that this version does not know. */
        UnknownActor: {
            /** @enum {string} */
            kind: "unknown";
        };
        /** @description Sends an HTTP request. */
        HttpExecution: {
            /** @description GET, POST, PUT, PATCH or DELETE. */
            method: string;
            /** @description `http://` or `https://` and a host without placeholders. */
            url: string;
            /** @description Headers. Their values may hold placeholders. */
            headers?: {
                [key: string]: components["schemas"]["HeaderValue"];
            };
            /** @description The JSON body. Its texts may hold placeholders. */
            body?: unknown;
            /**
             * Format: int32
             * @description How long a call may take in milliseconds, with redirects and retries.
             * @default 10000
             */
            timeoutMs: number;
            /** @enum {string} */
            type: "http";
        };
        /** @description Shows a form in the space and waits for an answer. */
        SpaceExecution: {
            /**
             * @description `form`, `buttons`, or a component that your client knows.
             * @default form
             */
            ui: string;
            /** @description A JSON Schema: an object, `true` or `false`. */
            resultSchema?: unknown;
            expiresAfter?: components["schemas"]["WrittenDuration"] | null;
            /**
             * @description Who may answer.
             * @default humans
             */
            answerBy: components["schemas"]["AnswerBy"];
            /** @enum {string} */
            type: "space";
        };
        /** @description Evaluates a CEL expression over the input. */
        ComputeExecution: {
            /** @description The expression. It sees the input as `input`. */
            expression: string;
            /** @enum {string} */
            type: "compute";
        };
        /** @description Draws a picture, which the card of the call shows. */
        ImageExecution: {
            /** @description The provider whose model draws it. Its API is that of OpenAI, Bedrock or a script. */
            provider: components["schemas"]["ProviderName"];
            /** @description The model's name at its provider. `scripted` needs none. */
            model?: string | null;
            /**
             * @description The size of the picture. Each model has its own sizes.
             * @default 1024x1024
             */
            size: components["schemas"]["ImageSize"];
            /** @enum {string} */
            type: "image";
        };
        /** @description Returns `output`. */
        StaticExecution: {
            /** @description The result of every call. */
            output: unknown;
            /** @enum {string} */
            type: "static";
        };
        /** @description The plan fires once and is then deleted. */
        OnceListedPlan: {
            /** @description The duration with which it was set, such as "2 hours"; null if it was set with a time. */
            runAfter: string | null;
            /** @enum {string} */
            type: "once";
            /** @description The plan's id. */
            id: components["schemas"]["PlanId"];
            /** @description The plan's name, 1 to 128 characters. */
            name: string;
            /** @description What the agent is to do, 1 to 4,000 characters. */
            instruction: string;
            /** @description Whether the plan fires. */
            status: components["schemas"]["PlanStatus"];
            nextRunAt: components["schemas"]["Time"] | null;
            lastRunAt: components["schemas"]["Time"] | null;
            managedBy?: components["schemas"]["ManagedBy"] | null;
            /** @description When the plan was first set. */
            createdAt: components["schemas"]["Time"];
            /** @description When the plan was last changed. */
            updatedAt: components["schemas"]["Time"];
            /** @description The next times at which the plan fires, up to five. Empty if it is paused. */
            nextRuns: components["schemas"]["Time"][];
        };
        /** @description The plan fires repeatedly, by the five fields of cron. */
        CronListedPlan: {
            /** @description The five fields. */
            cron: string;
            /** @description The IANA time zone. */
            timezone: string;
            /** @enum {string} */
            type: "cron";
            /** @description The plan's id. */
            id: components["schemas"]["PlanId"];
            /** @description The plan's name, 1 to 128 characters. */
            name: string;
            /** @description What the agent is to do, 1 to 4,000 characters. */
            instruction: string;
            /** @description Whether the plan fires. */
            status: components["schemas"]["PlanStatus"];
            nextRunAt: components["schemas"]["Time"] | null;
            lastRunAt: components["schemas"]["Time"] | null;
            managedBy?: components["schemas"]["ManagedBy"] | null;
            /** @description When the plan was first set. */
            createdAt: components["schemas"]["Time"];
            /** @description When the plan was last changed. */
            updatedAt: components["schemas"]["Time"];
            /** @description The next times at which the plan fires, up to five. Empty if it is paused. */
            nextRuns: components["schemas"]["Time"][];
        };
        /** @description A person. */
        HumanNewEntity: {
            /** @description 1 to 128 characters, not only blanks, without control characters, invisible ones and ones that Unicode does not assign. A joiner or a selector stands only after a character beyond ASCII. */
            name: string;
            /** @description The entity's id in the deployment's own user directory. It may not start with an id prefix such as `ent_`. */
            externalId?: string | null;
            /** @enum {string} */
            type: "human";
        };
        /** @description An agent. */
        AgentNewEntity: {
            /** @description 1 to 128 characters, not only blanks, without control characters, invisible ones and ones that Unicode does not assign. A joiner or a selector stands only after a character beyond ASCII. */
            name: string;
            /** @description The entity's id in the deployment's own user directory. It may not start with an id prefix such as `ent_`. */
            externalId?: string | null;
            /** @description The agent's configuration. */
            agent: components["schemas"]["AgentConfig"];
            /** @enum {string} */
            type: "agent";
        };
        /** @description A message was posted. */
        SpaceMessageOrigin: {
            /** @description Why the message triggered this agent. */
            source: components["schemas"]["Source"];
            /** @description The message's space. */
            spaceId: components["schemas"]["SpaceId"];
            /** @description The space's name. */
            spaceName: string;
            /** @description The message's id. */
            messageId: components["schemas"]["MessageId"];
            /**
             * Format: int64
             * @description The message's position in the space.
             */
            seq: number;
            /** @description The message's sender. */
            sender: components["schemas"]["Sender"];
            /**
             * @description The message's text, cut to 4,000 characters. Absent if the message has none, and in the
             *     origin of a message: read it from the message that it names.
             */
            text?: string;
            /** @description When the message was posted. */
            at: components["schemas"]["Time"];
            delegatedBy?: components["schemas"]["Sender"] | null;
            /** @description The delegating agent's note about the message. */
            note?: string | null;
            /** @enum {string} */
            type: "space_message";
            /** @description The names of the tools that the run had used before, in order, each once. */
            toolsUsed?: string[];
        };
        /** @description A plan fired. */
        PlanOrigin: {
            /** @description The plan. */
            planId: components["schemas"]["PlanId"];
            /** @description The plan's name. */
            name: string;
            /** @description The plan's instruction. */
            instruction: string;
            /** @description The time for which the plan fired. */
            scheduledAt: components["schemas"]["Time"];
            /**
             * Format: int32
             * @description How many earlier times of the plan were missed, up to 10,000.
             */
            missed: number;
            /** @enum {string} */
            type: "plan";
            /** @description The names of the tools that the run had used before, in order, each once. */
            toolsUsed?: string[];
        };
        /** @description A service sent a webhook. */
        ServiceOrigin: {
            /** @description The service. */
            service: string;
            /** @description The JSON that the service sent. */
            payload: unknown;
            /** @description The delivery. */
            deliveryId: components["schemas"]["DeliveryId"];
            /** @description When the delivery was received. */
            at: components["schemas"]["Time"];
            /** @enum {string} */
            type: "service";
            /** @description The names of the tools that the run had used before, in order, each once. */
            toolsUsed?: string[];
        };
        /** @description Only the type of a trigger, for readers who may know no more. */
        OtherOrigin: {
            /** @description The trigger's type. */
            type: components["schemas"]["TriggerKind"];
            /** @description The names of the tools that the run had used before, in order, each once. */
            toolsUsed?: string[];
        };
        /** @description Text. */
        TextPart: {
            /** @description The text. */
            text: string;
            /**
             * @description True if the run was canceled while its model wrote the text, or if the text was cut at
             *     `maxOutputTokens`.
             */
            partial?: boolean;
            /** @enum {string} */
            type: "text";
        };
        /** @description A tool call, shown as a card. */
        ToolPart: {
            /** @description The call's id. */
            callId: components["schemas"]["CallId"];
            /** @description The tool's name. */
            name: string;
            /** @description The tool's `title` with the values of this call, on one line; null if the tool has none. */
            title: string | null;
            /** @description The call's input. If it is partial, a text as far as the model wrote it. */
            input: unknown;
            /** @description True if the run was canceled while its model wrote the input. */
            partial?: boolean;
            /** @description The call's result; null while there is none. */
            output: unknown;
            /** @description The call's status. */
            status: components["schemas"]["CallStatus"];
            /** @description `form`, `buttons`, or a component that your client knows; null if the card is not a form. */
            ui: string | null;
            /** @description A JSON Schema: an object, `true` or `false`. */
            resultSchema: unknown;
            answerBy: components["schemas"]["AnswerBy"] | null;
            resolvedBy: components["schemas"]["ResolvedBy"] | null;
            expiresAt: components["schemas"]["Time"] | null;
            approval?: components["schemas"]["Approval"] | null;
            pageOf?: components["schemas"]["EntityId"] | null;
            /** @enum {string} */
            type: "tool";
        };
        /** @description A file. */
        FilePart: {
            /** @description The file. */
            attachmentId: components["schemas"]["AttachmentId"];
            /** @description Its name. */
            name: string;
            /** @description Its media type. */
            contentType: string;
            /**
             * Format: int64
             * @description Its size.
             */
            bytes: number;
            /**
             * Format: int32
             * @description The width of a picture in pixels.
             */
            width?: number | null;
            /**
             * Format: int32
             * @description The height of a picture in pixels.
             */
            height?: number | null;
            /** @description Whether the file was deleted. It can no longer be downloaded. */
            deleted?: boolean;
            /** @enum {string} */
            type: "file";
        };
        /** @description The plan fires once and is then deleted. */
        OncePlan: {
            /** @description The duration with which it was set, such as "2 hours"; null if it was set with a time. */
            runAfter: string | null;
            /** @enum {string} */
            type: "once";
            /** @description The plan's id. */
            id: components["schemas"]["PlanId"];
            /** @description The plan's name, 1 to 128 characters. */
            name: string;
            /** @description What the agent is to do, 1 to 4,000 characters. */
            instruction: string;
            /** @description Whether the plan fires. */
            status: components["schemas"]["PlanStatus"];
            nextRunAt: components["schemas"]["Time"] | null;
            lastRunAt: components["schemas"]["Time"] | null;
            managedBy?: components["schemas"]["ManagedBy"] | null;
            /** @description When the plan was first set. */
            createdAt: components["schemas"]["Time"];
            /** @description When the plan was last changed. */
            updatedAt: components["schemas"]["Time"];
        };
        /** @description The plan fires repeatedly, by the five fields of cron. */
        CronPlan: {
            /** @description The five fields. */
            cron: string;
            /** @description The IANA time zone. */
            timezone: string;
            /** @enum {string} */
            type: "cron";
            /** @description The plan's id. */
            id: components["schemas"]["PlanId"];
            /** @description The plan's name, 1 to 128 characters. */
            name: string;
            /** @description What the agent is to do, 1 to 4,000 characters. */
            instruction: string;
            /** @description Whether the plan fires. */
            status: components["schemas"]["PlanStatus"];
            nextRunAt: components["schemas"]["Time"] | null;
            lastRunAt: components["schemas"]["Time"] | null;
            managedBy?: components["schemas"]["ManagedBy"] | null;
            /** @description When the plan was first set. */
            createdAt: components["schemas"]["Time"];
            /** @description When the plan was last changed. */
            updatedAt: components["schemas"]["Time"];
        };
        /** @description The operator, in nobody's name. */
        OperatorResolvedBy: {
            /** @enum {string} */
            kind: "operator";
        };
        /** @description A call that created or changed the agent. */
        ApiRevisionSource: {
            /** @enum {string} */
            kind: "api";
        };
        /** @description Files that were applied. */
        ApplyRevisionSource: {
            /** @description The project. */
            project: string;
            /** @description The path of the file. */
            path?: string | null;
            /** @description The commit. */
            commit?: string | null;
            /** @enum {string} */
            kind: "apply";
        };
        /** @description A call that restored an earlier revision. */
        RestoreRevisionSource: {
            /**
             * Format: int64
             * @description The revision that it restored.
             */
            restoredFrom: number;
            /** @enum {string} */
            kind: "restore";
        };
        /** @description Something that this version does not know. */
        UnknownRevisionSource: {
            /** @enum {string} */
            kind: "unknown";
        };
        /** @description A message was posted. */
        SpaceMessageTrigger: {
            /** @description Why the message triggered this agent. */
            source: components["schemas"]["Source"];
            /** @description The message's space. */
            spaceId: components["schemas"]["SpaceId"];
            /** @description The space's name. */
            spaceName: string;
            /** @description The message's id. */
            messageId: components["schemas"]["MessageId"];
            /**
             * Format: int64
             * @description The message's position in the space.
             */
            seq: number;
            /** @description The message's sender. */
            sender: components["schemas"]["Sender"];
            /**
             * @description The message's text, cut to 4,000 characters. Absent if the message has none, and in the
             *     origin of a message: read it from the message that it names.
             */
            text?: string;
            /** @description When the message was posted. */
            at: components["schemas"]["Time"];
            delegatedBy?: components["schemas"]["Sender"] | null;
            /** @description The delegating agent's note about the message. */
            note?: string | null;
            /** @enum {string} */
            type: "space_message";
        };
        /** @description A plan fired. */
        PlanTrigger: {
            /** @description The plan. */
            planId: components["schemas"]["PlanId"];
            /** @description The plan's name. */
            name: string;
            /** @description The plan's instruction. */
            instruction: string;
            /** @description The time for which the plan fired. */
            scheduledAt: components["schemas"]["Time"];
            /**
             * Format: int32
             * @description How many earlier times of the plan were missed, up to 10,000.
             */
            missed: number;
            /** @enum {string} */
            type: "plan";
        };
        /** @description A service sent a webhook. */
        ServiceTrigger: {
            /** @description The service. */
            service: string;
            /** @description The JSON that the service sent. */
            payload: unknown;
            /** @description The delivery. */
            deliveryId: components["schemas"]["DeliveryId"];
            /** @description When the delivery was received. */
            at: components["schemas"]["Time"];
            /** @enum {string} */
            type: "service";
        };
        /** @description A message was posted. */
        SpaceMessageTriggerReference: {
            /** @description The message's id. */
            messageId: components["schemas"]["MessageId"];
            /**
             * Format: int64
             * @description The message's position in the space.
             */
            seq: number;
            /** @description Why the message triggered this agent. */
            source: components["schemas"]["Source"];
            delegatedBy?: components["schemas"]["Sender"] | null;
            /** @enum {string} */
            type: "space_message";
        };
        /** @description A plan fired. */
        PlanTriggerReference: {
            /** @description The plan. */
            planId: components["schemas"]["PlanId"];
            /** @enum {string} */
            type: "plan";
        };
        /** @description A service sent a webhook. */
        ServiceTriggerReference: {
            /** @description The service. */
            service: string;
            /** @enum {string} */
            type: "service";
        };
    };
    responses: {
        /** @description The query, a header or the JSON of the body can't be read. */
        Problem400: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The credential is missing or not valid. */
        Problem401: {
            headers: {
                "WWW-Authenticate": components["headers"]["Authenticate"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The caller may not do this. */
        Problem403: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It does not exist, or the caller may not know that it exists. */
        Problem404: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is too large. */
        Problem413: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is JSON, but not valid; `errors` lists what is wrong and where. */
        Problem422: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The caller sends too many requests. */
        Problem429: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description An error in Smartspace. */
        Problem500: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It is unknown whether the request took effect. Repeat it with the same key. */
        Problem503: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
        RequestId: string;
    };
    requestBodies: never;
    headers: {
        /** @description The authentication scheme. */
        Authenticate: string;
        /** @description The address of the new resource. */
        Location: string;
        /** @description The id of the request, as sent or new. It is also in the log. */
        RequestId: string;
        /** @description Seconds to wait. */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    showHealth: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    showDescription: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    showSchema: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description `agent.json`, `space.json`, `plan.json`, `tools.json`, `environment.json` or `project.json`. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            404: components["responses"]["Problem404"];
        };
    };
    previewApproval: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SuggestedCall"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalPreview"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    showAgentCard: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentCard"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Only deliveries of this service. */
                service?: string;
                /** @description Only deliveries with this status. */
                status?: components["schemas"]["DeliveryStatus"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Delivery"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    replayDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key"?: string;
                /** @description The chain depth of what caused this request. A tool that calls this API forwards the header that it received. */
                "smartspace-chain-depth"?: number;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
                deliveryId: components["schemas"]["DeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceivedResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The payload of this delivery was not stored. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The key was used before with another body. */
            422: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listGoals: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Goal"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    setGoal: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
                /** @description Percent-encoded; any character except NUL. */
                goalId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GoalChange"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Goal"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The agent has the maximum number of goals. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteGoal: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
                /** @description Percent-encoded; any character except NUL. */
                goalId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or it did not exist. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listMemories: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Memory"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    setMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
                /** @description Percent-encoded; any character except NUL. */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryBody"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Memory"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The agent has the maximum number of memories. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
                /** @description Percent-encoded; any character except NUL. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or it did not exist. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listPlans: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ListedPlan"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createPlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key"?: string;
                /** @description The chain depth of what caused this request. A tool that calls this API forwards the header that it received. */
                "smartspace-chain-depth"?: number;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanChange"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The agent has the maximum number of plans, the chain depth has reached the agent's `maxChainDepth`, or the plan that the key created no longer exists. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    changePlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description The chain depth of what caused this request. A tool that calls this API forwards the header that it received. */
                "smartspace-chain-depth"?: number;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
                planId: components["schemas"]["PlanId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanChange"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The chain depth has reached the agent's `maxChainDepth`. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deletePlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
                planId: components["schemas"]["PlanId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or it did not exist. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    runPlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key"?: string;
                /** @description The chain depth of what caused this request. A tool that calls this API forwards the header that it received. */
                "smartspace-chain-depth"?: number;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
                planId: components["schemas"]["PlanId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The agent is paused, or the chain depth has reached its `maxChainDepth`. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The key was used before with another body. */
            422: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listRevisions: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Revisions"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    showRevision: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
                revision: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownRevision"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    restoreRevision: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
                revision: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entity"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The name is taken in one of the agent's spaces, or the agent was changed at the same time. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The revision is no longer valid, because of a provider that this deployment no longer has, for example. */
            422: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listRunsOfAgent: {
        parameters: {
            query?: {
                /** @description Only runs with this status. */
                status?: components["schemas"]["RunStatus"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Run"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    triggerAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key"?: string;
                /** @description The chain depth of what caused this request. A tool that calls this API forwards the header that it received. */
                "smartspace-chain-depth"?: number;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TriggerBody"];
            };
        };
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceivedResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    showUsageOfAgent: {
        parameters: {
            query?: {
                /** @description The first day, in UTC; by default 29 days before the last one. */
                from?: string;
                /** @description The last day, in UTC; by default today. At most 92 days are reported. */
                to?: string;
                /** @description What the sums are grouped by: `day`, `agent`, `space` and `model`, separated by commas. */
                by?: string;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReport"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listAllowances: {
        parameters: {
            query?: {
                /** @description Only allowances of this agent. */
                agentId?: components["schemas"]["EntityId"];
                /** @description Only allowances that count in this space alone. */
                spaceId?: components["schemas"]["SpaceId"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Allowance"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            /** @description There is no such space, or the caller is no member of it. */
            404: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteAllowance: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["AllowanceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or it did not exist. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    apply: {
        parameters: {
            query?: {
                /** @description Whether to answer what would be done, and do nothing. */
                dryRun?: boolean;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Apply"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplyAnswer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            /** @description A managed field was changed by hand, an object belongs to another project or to none, or another apply of this project is at work. The problem has `results`, except in the last case. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is longer than 4 MiB, or has more than 300 objects. */
            413: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listEntities: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Entity"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createEntity: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key"?: string;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEntity"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entity"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            /** @description Another entity has this `externalId`, or the entity that the key created no longer exists. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    showEntity: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entity"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    retireEntity: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or it did not exist. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The entity was changed at the same time. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    changeEntity: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EntityPatch"];
                "application/merge-patch+json": components["schemas"]["EntityPatch"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entity"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The name or the `externalId` is taken, or the entity was changed at the same time. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    receiveHook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The chain depth of what caused this request. A tool that calls this API forwards the header that it received. */
                "smartspace-chain-depth"?: number;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                agentId: components["schemas"]["EntityId"];
                service: string;
            };
            cookie?: never;
        };
        /** @description The payload, at most 128 KiB. */
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceivedResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            /** @description The signature is missing, wrong or too old, or there is no such agent or webhook. The list of deliveries says why. */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["Authenticate"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            /** @description The service sends too often, or too many requests from this address or for this agent had no valid signature. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["RetryAfter"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No secret of the webhook is usable, or it is unknown whether the payload was stored. Send it again. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["RetryAfter"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listInbox: {
        parameters: {
            query?: {
                /** @description Only cards that wait for this. */
                kind?: components["schemas"]["InboxKind"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_InboxItem"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    acceptInvite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key"?: string;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Acceptance"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedInvite"];
                };
            };
            400: components["responses"]["Problem400"];
            /** @description The credential is wrong, or there is none and the deployment has no guests. */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["Authenticate"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller accepts no invites: it is an agent, the operator, or a guest of another space; or the deployment has no invites. */
            403: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No invite has this token, or it has expired, was revoked or has ended. */
            404: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The invite is used up, the space is full, the caller is in too many spaces, or a guest's name looks like another member's. The text then has a name that is free. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            /** @description Too many wrong tokens from this address, or too many tries of this invite. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["RetryAfter"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error in Smartspace. */
            500: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It is unknown whether the request took effect. Repeat it with the same key. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["RetryAfter"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    previewInvite: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShownInvite"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitePreview"];
                };
            };
            400: components["responses"]["Problem400"];
            /** @description The credential is wrong. */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["Authenticate"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The deployment has no invites. */
            403: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No invite has this token, or it has expired, was revoked or has ended. */
            404: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The invite is used up. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            /** @description Too many wrong tokens from this address, or too many tries of this invite. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["RetryAfter"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error in Smartspace. */
            500: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It is unknown whether the request took effect. Repeat it with the same key. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["RetryAfter"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    showMe: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listMentions: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Mentioned"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listProviders: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderList"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description Only runs with this status. */
                status?: components["schemas"]["RunStatus"];
                /** @description Only runs of this agent. */
                agentId?: components["schemas"]["EntityId"];
                /** @description Only runs that messages of this space triggered. */
                spaceId?: components["schemas"]["SpaceId"];
                /** @description Only runs that this message triggered. */
                trigger?: components["schemas"]["MessageId"];
                /** @description Only runs with this chain depth or more: 0 for those that people set off. */
                minChainDepth?: number;
                /** @description Only runs that were triggered at this time or later. */
                since?: string;
                /** @description Only runs that were triggered before this time. */
                until?: string;
                /**
                 * @description Whether each run has `asked`, `askedBy`, `postSeq` and `said`: the beginnings of the
                 *     messages that triggered it and that it posted first, and who sent the former.
                 */
                messages?: boolean;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Run"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    showRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    cancelRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The run has already ended. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    completeRemoteRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["RunId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemoteEndBody"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The run has ended otherwise, or its time is up. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    forkRun: {
        parameters: {
            query?: never;
            header: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key": string;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["RunId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForkRequest"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The run is a fork itself, or no answer of its model is stored, or the steps to replay are not stored any more or have calls without a result. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            /** @description The run has no such step, or the key was used before with another body. */
            422: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    postRemoteMessage: {
        parameters: {
            query?: never;
            header: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key": string;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["RunId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemoteMessageBody"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The run has ended, or its time is up. The agent should stop. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            /** @description The body does not fit, the agent is not a member of the space, the space does not have a file, another message has the same `streamKey`, the run has posted 100 messages, or the key was used before with another body. */
            422: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    reactAsRemoteAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["RunId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemoteReactionBody"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReactionsResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The run has ended, or its time is up; or the message was deleted, or takes no further reaction. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    retryRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The chain depth of what caused this request. A tool that calls this API forwards the header that it received. */
                "smartspace-chain-depth"?: number;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The run neither failed nor was canceled by a person or by `stop_run`; or the agent or the space is paused, the agent has left the space or is busy, or the chain depth is too deep. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The runs per minute or the budget of the agent or the space are used. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["RetryAfter"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    streamRemoteText: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["RunId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemoteTextBody"];
            };
        };
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamedResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The run has ended, or its time is up. The agent should stop. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            /** @description More than 5 calls in a second. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["RetryAfter"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    decideToolCall: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["RunId"];
                callId: components["schemas"]["CallId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecisionBody"];
            };
        };
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The call has another decision, it has expired, its run has ended, somebody has edited the input since, or a rule of the agent refuses the new input. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    answerToolCall: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["RunId"];
                callId: components["schemas"]["CallId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolResult"];
            };
        };
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TakenResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The form has another answer, it has expired, or its run has ended. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    searchMessages: {
        parameters: {
            query?: {
                /**
                 * @description Words, phrases in quotes, `begin*`, `-without`, and the filters `in:`, `from:`, `has:`,
                 *     `before:` and `after:`. It may be empty if there is another filter.
                 */
                q?: string;
                /** @description The spaces to search; by default all spaces of the caller. The operator must name one. */
                spaceId?: components["schemas"]["SpaceId"][];
                /** @description Ids or names of senders, or `me`. */
                from?: string[];
                /** @description Only messages before this time: RFC 3339, or a day in UTC. */
                before?: string;
                /** @description Only messages from this time on: RFC 3339, or a day in UTC. */
                after?: string;
                /** @description What a message must have; all of it if it is repeated. */
                has?: ("file" | "image" | "link" | "code" | "card" | "reply")[];
                /** @description The order of the items. */
                sort?: "relevance" | "newest";
                limit?: number;
                /** @description The `nextCursor` of an earlier answer to the same search. */
                cursor?: string;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchAnswer"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            /** @description The caller is not in one of the spaces, or no space knows one of the senders. */
            404: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A parameter is not valid; `errors` says which one. */
            422: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createSocketTicket: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TicketBody"] | null;
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TicketResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listSpaces: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Space"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createSpace: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key"?: string;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSpace"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Space"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            /** @description Two of the agents have the same name, a member is in too many spaces, or the space that the key created no longer exists. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    showSpace: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Space"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteSpace: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or it did not exist. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    changeSpace: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SpacePatch"];
                "application/merge-patch+json": components["schemas"]["SpacePatch"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Space"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The space was changed at the same time. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listAttachments: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ListedAttachment"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createAttachment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key"?: string;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAttachment"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedUpload"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            /** @description Also if the file of the same key was deleted. */
            404: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
            /** @description The space, the caller or the deployment has no room for it, or the caller has announced too many files that are not uploaded yet. */
            507: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getAttachment: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                attachmentId: components["schemas"]["AttachmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownAttachment"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteAttachment: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                attachmentId: components["schemas"]["AttachmentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or it did not exist. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    showGate: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GateReport"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listInvites: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Invite"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createInvite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key"?: string;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NewInvite"] | null;
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedInvite"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The key was used before the admin key was changed. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    revokeInvite: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                inviteId: components["schemas"]["InviteId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or it did not exist. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    addMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                entityId: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["MemberBody"] | null;
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The name is taken in this space, the space is full, or the entity is in too many spaces. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                entityId: components["schemas"]["EntityId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or it did not exist. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listMessages: {
        parameters: {
            query?: {
                after?: number;
                before?: number;
                /**
                 * @description Only the thread of the message with this `seq`: the first message and the chain of replies
                 *     to it. The other parameters count within the thread.
                 */
                thread?: number;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagesPage"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description `thread` is the number of no message of this space. */
            422: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    createMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat. For 24 hours, the same key with the same body returns what the first request created; with another body the answer is 422. */
                "Idempotency-Key"?: string;
                /** @description The chain depth of what caused this request. A tool that calls this API forwards the header that it received. */
                "smartspace-chain-depth"?: number;
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageBody"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    previewMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageBody"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    getMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                seq: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    deleteMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                seq: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Also if the message was deleted before. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The message is a card, and its call has no result yet. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    editMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                seq: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageEdit"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The message was deleted, is a card, or has another revision. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    stopChain: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                seq: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopResponse"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    reactToMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                seq: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReactionBody"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReactionsResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The message was deleted, or it has 20 different emoji or 1,000 reactions. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listPins: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PinsResponse"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    pinMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                seq: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PinView"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            /** @description The message was deleted, or the space has 20 pins. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    unpinMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
                seq: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or it did not exist. */
            204: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    markRead: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReadBody"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadResponse"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    listRunsOfSpace: {
        parameters: {
            query?: {
                /**
                 * @description Whether each run has `asked`, `askedBy`, `postSeq` and `said`: the beginnings of the
                 *     messages that triggered it and that it posted first, and who sent the former.
                 */
                messages?: boolean;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Run"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    stopSpace: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopResponse"];
                };
            };
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    showUsageOfSpace: {
        parameters: {
            query?: {
                /** @description The first day, in UTC; by default 29 days before the last one. */
                from?: string;
                /** @description The last day, in UTC; by default today. At most 92 days are reported. */
                to?: string;
                /** @description What the sums are grouped by: `day`, `agent`, `space` and `model`, separated by commas. */
                by?: string;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: components["schemas"]["SpaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReport"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    testTool: {
        parameters: {
            query?: never;
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolTest"];
            };
        };
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolTestResult"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            413: components["responses"]["Problem413"];
            422: components["responses"]["Problem422"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
    showUsage: {
        parameters: {
            query?: {
                /** @description The first day, in UTC; by default 29 days before the last one. */
                from?: string;
                /** @description The last day, in UTC; by default today. At most 92 days are reported. */
                to?: string;
                /** @description What the sums are grouped by: `day`, `agent`, `space` and `model`, separated by commas. */
                by?: string;
            };
            header?: {
                /** @description An id for this request, 1 to 128 visible ASCII characters. If it is missing or not valid, the request gets a new id. */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReport"];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            429: components["responses"]["Problem429"];
            500: components["responses"]["Problem500"];
            503: components["responses"]["Problem503"];
        };
    };
}
